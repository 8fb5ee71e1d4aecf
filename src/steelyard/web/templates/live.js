"use strict";
// Puts each event of a live run on its page: pieces of HTML by the element that they replace.
(() => {
  const link = document.getElementById("link");
  const source = new EventSource(link.dataset.events);
  let ended = false;
  source.addEventListener("state", (event) => {
    const data = JSON.parse(event.data);
    if (data.error) {
      link.textContent = data.error;
      return;
    }
    for (const [id, html] of Object.entries(data.parts)) {
      const place = document.getElementById(id);
      if (place.innerHTML !== html && !place.contains(document.activeElement)) place.innerHTML = html;
    }
    ended = data.state.phase === "ended" && !data.state.running;
    const at = new Date().toLocaleTimeString();
    link.textContent = ended ? `Ended; last change at ${at}.` : `Live; last change at ${at}.`;
    if (ended) source.close();
  });
  source.addEventListener("error", () => {
    if (!ended) link.textContent = "The server does not answer; this page tries again by itself.";
  });
})();
