// The page's script: follows the event log and swaps what has changed; sends forms as JSON.
//
// Owns: the connection, the order in which a region is made like the server's, and what a form becomes.
// Must not: hold state of the daemon's, or make markup: every node comes from a page that the server has made.

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? "";
const project = meta("hub-project");
const own = project ? { "Hub-Project": project } : {};
const tags = new Set(meta("hub-tags").split(" ").filter(Boolean));
const away = document.getElementById("away");
const markup = globalThis.trustedTypes?.createPolicy("hub", { createHTML: (text) => text })
  ?? { createHTML: (text) => text };

const SOONEST = 250; // milliseconds between two swaps
const WHOLE = 5000; // milliseconds between two swaps of what takes long to make
const OFTEN = 30_000; // ages and times left move without an event
const AGAIN = 1000; // milliseconds until a daemon that is away, or could not make the page, is asked again
const PATIENCE = 5000; // milliseconds for a daemon to say that it is there; one that is stopped never does
const AWAY = "The daemon is away. This page asks for it every second, and goes on when it is back. To start it: hub daemon";
const SILENT = "The daemon has not answered for 5 seconds; what is shown may be old. To see how it does: hub doctor";
const UNANSWERED = "No answer came. When the daemon is there again, look whether this was done before you send it again.";
let last = Number(meta("hub-event")) || 0;
let ended = 0; // when the last swap was done
let took = 0;
let whole = performance.now(); // when all was made anew
let rest = 0;
let timer = 0;
let again = 0;
let stale = false;
let busy = false;

document.documentElement.classList.add("live");
const here = document.querySelector("header [aria-current]");
if (here) { // not by scrollIntoView, after which some browsers begin at the link with the Tab key
  const row = here.closest("ul");
  const [link, space] = [here.getBoundingClientRect(), row.getBoundingClientRect()];
  row.scrollLeft += link.left + link.width / 2 - space.left - space.width / 2;
}

// --- swapping ---

// A form is known by what it sends: what it has answered stays when something comes to stand before it.
const sends = (node) => (node.nodeName === "FORM" && node.dataset.post ? `${node.dataset.post} ${node.dataset.body}` : "");
const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.dataset.key || node.id || sends(node) : "");
const isField = (node) => ["INPUT", "TEXTAREA", "SELECT"].includes(node.nodeName);

function morph(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
    old.replaceWith(document.importNode(fresh, true));
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (name === "class" && old.classList.contains("flash")) continue;
    if (!fresh.hasAttribute(name) && !(name === "open" && old.nodeName === "DETAILS")) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (name.startsWith("on") || (name === "open" && old.nodeName === "DETAILS")) continue;
    if (old.getAttribute(name) === value) continue;
    if (name === "data-flash") flash(old);
    old.setAttribute(name, value);
  }
  if (isField(old) || old.nodeName === "OUTPUT") return; // what was typed or answered stays
  if (!old.isEqualNode(fresh)) children(old, fresh);
}

function flash(node) {
  node.classList.add("flash");
  setTimeout(() => node.classList.remove("flash"), 1500);
}

function children(old, fresh) {
  const known = new Map();
  for (const node of old.childNodes) if (keyOf(node)) known.set(keyOf(node), node);
  let place = old.firstChild;
  for (const next of fresh.childNodes) {
    const key = keyOf(next);
    const kept = key ? known.get(key) : undefined;
    if (kept) {
      known.delete(key);
      if (kept === place) place = place.nextSibling;
      else old.insertBefore(kept, place);
      morph(kept, next);
    } else if (!key && place && !keyOf(place)) {
      const after = place.nextSibling;
      morph(place, next);
      place = after;
    } else {
      old.insertBefore(document.importNode(next, true), place);
    }
  }
  while (place) {
    const after = place.nextSibling;
    place.remove();
    place = after;
  }
}

async function refresh() {
  if (busy) {
    stale = true;
    return;
  }
  busy = true;
  stale = false;
  const begun = performance.now();
  const silent = setTimeout(() => say("page", SILENT), PATIENCE);
  const briefly = begun - whole < WHOLE ? { "Hub-Briefly": "1" } : {};
  if (!briefly["Hub-Briefly"]) whole = begun;
  else rest ||= setTimeout(later, whole + WHOLE - begun);
  try {
    const response = await fetch(location.href, {
      headers: { ...own, ...briefly, Accept: "text/html" },
      cache: "no-store",
      redirect: "error",
    });
    const text = await response.text();
    if (!(response.headers.get("content-type") ?? "").startsWith("text/html")) return trouble(response, problem(text));
    const fresh = new DOMParser().parseFromString(markup.createHTML(text), "text/html");
    if (!response.ok) return trouble(response, fresh.getElementById("why")?.textContent.trim() ?? response.statusText);
    if (document.getElementById("why")) return location.reload(); // it is here after all
    say("page", "");
    for (const region of document.querySelectorAll("[data-live]")) {
      const next = fresh.getElementById(region.id);
      if (next) morph(region, next);
    }
    took = performance.now() - begun;
  } catch {
    say("page", ""); // The daemon is away; the socket says so, and comes back.
  } finally {
    clearTimeout(silent);
    busy = false;
    ended = performance.now();
    if (stale) soon();
  }
}

// What is shown is older than it looks: that is said, and where it is the daemon's trouble, it is asked again.
function trouble(response, words) {
  say("page", words);
  if (response.status >= 500) retry();
}

function retry() {
  clearTimeout(again);
  again = setTimeout(soon, AGAIN);
}

function later() {
  rest = 0;
  soon();
}

function soon() {
  if (document.hidden) {
    stale = true;
    return;
  }
  if (timer) return;
  const wait = Math.max(0, ended + Math.max(SOONEST, 3 * took) - performance.now());
  timer = setTimeout(() => {
    timer = 0;
    refresh();
  }, wait);
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  if (stale) soon();
  if (next) look(); // a browser lets the timers of a page that nobody sees wait for a minute
});
setInterval(soon, Number(meta("hub-every")) * 1000 || OFTEN);

// --- following ---

const told = { connection: "", page: "" };

function say(about, words) {
  told[about] = words;
  const all = told.connection || told.page;
  if (away.textContent !== all) away.textContent = all; // said once by a screen reader, not every second
}

let next = 0;

function lost(words) {
  document.documentElement.dataset.state = "away";
  say("connection", words);
  clearTimeout(next);
  next = setTimeout(look, AGAIN);
}

// Asked for by a plain request: it tells why it is refused, and a browser makes sockets wait after some have failed.
async function look() {
  clearTimeout(next);
  next = 0;
  const signal = AbortSignal.timeout(PATIENCE);
  const found = await fetch("/api/health", { headers: own, cache: "no-store", redirect: "error", signal }).catch(() => undefined);
  if (found?.ok) follow();
  else lost(found ? problem(await found.text().catch(() => "")) : AWAY);
}

function follow() {
  const url = new URL("/ws", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  url.search = `batch=1&since=${last}`;
  const socket = new WebSocket(url);
  socket.addEventListener("open", () => {
    if (told.connection) soon();
    say("connection", "");
    document.documentElement.dataset.state = "live";
  });
  socket.addEventListener("message", ({ data }) => {
    for (const event of JSON.parse(data)) {
      last = Math.max(last, event.id);
      if (tags.has(event.tag)) stale = true;
    }
    if (stale) soon();
  });
  socket.addEventListener("close", () => lost(AWAY));
}
follow();
const why = document.getElementById("why");
if (why && Number(why.dataset.status) >= 500) retry();

// --- forms ---

// As texts of hub's own have it.
const INSTANT = /\b(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d{1,6})?(?:Z| UTC)\b/g;

function clock(found, day, time) {
  const at = new Date(`${day}T${time}Z`);
  return isNaN(at) ? found : at.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

function problem(text) {
  try {
    const { detail, title, hint, errors = [] } = JSON.parse(text);
    const each = errors.map(({ path, message }) => `${path}: ${message}.`);
    return [detail || title, ...each, hint].filter(Boolean).join(" ").replace(INSTANT, clock);
  } catch {
    return "What answered is not hub's daemon. To find that: hub open";
  }
}

const READ = {
  list: (value) => (value.trim() ? [value] : undefined),
  integer: (value) => (value.trim() ? Number.parseInt(value, 10) : undefined),
  number: (value) => (value.trim() ? Number(value) : undefined),
  json: (value) => JSON.parse(value),
  text: (value) => value || undefined,
};

function bodyOf(form, submitter) {
  const body = { ...JSON.parse(form.dataset.body || "{}"), ...JSON.parse(submitter?.dataset.body || "{}") };
  let whole;
  for (const field of form.elements) {
    if (!field.name) continue;
    const value = field.type === "checkbox" ? field.checked : READ[field.dataset.type || "text"](field.value);
    if (field.dataset.type === "json") whole = value;
    else if (value !== undefined) body[field.name] = value;
  }
  return whole ?? body;
}

const sending = new WeakSet(); // not by an attribute, which the next swap takes away

// What is to be said besides, by the field of the answer that is true then.
function caveats(form, answer) {
  return Object.entries(JSON.parse(form.dataset.doneBut || "{}")).flatMap(([field, words]) => (answer[field] === true ? [words[0].toUpperCase() + words.slice(1)] : []));
}

async function send(form, submitter) {
  if (sending.has(form)) return; // a second click
  const said = form.querySelector("output");
  const question = submitter?.dataset.confirm || form.dataset.confirm;
  if (question && !confirm(question)) return;
  sending.add(form);
  form.toggleAttribute("aria-busy", true);
  const answers = (words) => {
    if (said) said.textContent = words;
  };
  answers("");
  const silent = setTimeout(() => answers("Waiting for the daemon's answer ..."), AGAIN);
  try {
    const response = await fetch(submitter?.dataset.post || form.dataset.post, {
      method: "POST",
      headers: { ...own, "Content-Type": "application/json" },
      body: JSON.stringify(bodyOf(form, submitter)),
      redirect: "error",
    });
    const text = await response.text();
    if (!response.ok) return answers(problem(text));
    const answer = JSON.parse(text);
    form.reset();
    if (form.dataset.goto && answer.sessionId) {
      location.assign(form.dataset.goto + encodeURIComponent(answer.sessionId));
      return;
    }
    answers([submitter?.dataset.done || form.dataset.done || "Done.", ...caveats(form, answer)].join(" "));
    soon();
  } catch (error) {
    answers(error instanceof SyntaxError ? `That is not JSON: ${error.message}` : UNANSWERED);
  } finally {
    clearTimeout(silent);
    sending.delete(form);
    form.removeAttribute("aria-busy");
  }
}

document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-move]");
  if (form) form.requestSubmit();
});

document.addEventListener("submit", (event) => {
  if (!event.target.dataset.post) return;
  event.preventDefault();
  send(event.target, event.submitter);
});
