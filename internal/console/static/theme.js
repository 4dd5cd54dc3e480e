// The choice of light or dark is applied before anything is drawn.
"use strict";
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch (_) {
  // Without storage the system's choice stands.
}
