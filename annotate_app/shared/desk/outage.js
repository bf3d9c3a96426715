// Streamlit covers the page with a dialog when its server does not answer for some seconds. The desk goes on
// without the server (grades wait in the browser, clips are there already) and says so itself, so the dialog is
// closed for the person. Streamlit shows it once a page; without the dialog nothing changes.

/** Close that dialog whenever it comes up, and tell `onAway`. Returns how to stop watching. */
function watchOutageDialog(onAway) {
  const look = () => {
    for (const dialog of document.querySelectorAll("[role='dialog']")) {
      const close = dialog.querySelector("button[aria-label='Close']");
      if (close && dialog.textContent.includes("Connection error")) {
        close.click();
        onAway();
      }
    }
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, { childList: true });
  look();
  return () => observer.disconnect();
}
