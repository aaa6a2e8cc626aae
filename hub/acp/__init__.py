"""hub as one agent of the Agent Client Protocol, for editors; see design/decisions/0073-hub-in-the-editor.md."""
