// Filters that act when they are changed, and buttons that act once.
export function handyForms() {
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-filter]");
    if (form && event.target.matches("select")) form.requestSubmit();
  });
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form");
    if (form?.matches("[data-filter]")) leaveOutEmpty(form);
    if (form?.matches("[data-once]")) disableOnce(form);
  });
  // A page that comes back from the browser's memory has its buttons again.
  window.addEventListener("pageshow", () => {
    for (const button of document.querySelectorAll("form[data-once] button")) button.disabled = false;
    for (const field of document.querySelectorAll("form[data-filter] :disabled")) field.disabled = false;
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const search = document.querySelector("input[type=search]");
    if (search) {
      event.preventDefault();
      search.focus();
      search.select();
    }
  });
}

function leaveOutEmpty(form) {
  for (const field of form.elements) if (field.name && field.value === "") field.disabled = true;
}

function disableOnce(form) {
  const button = form.querySelector("button[type=submit]");
  if (!button) return;
  setTimeout(() => {
    button.disabled = true;
    button.textContent = "Working…";
  });
}
