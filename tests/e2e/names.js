// What on this page has no name, or stands in the wrong place?
(() => {
  const wrong = [];
  const said = (element) => element.textContent.trim() || element.getAttribute("aria-label");
  for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    if (!field.labels.length) wrong.push(`no label: ${field.name}`);
  }
  for (const act of document.querySelectorAll("a, button")) if (!said(act)) wrong.push(act.outerHTML);
  for (const picture of document.querySelectorAll("svg:not([aria-hidden])")) {
    if (!picture.querySelector("title")?.textContent) wrong.push("a picture without words");
  }
  for (const table of document.querySelectorAll("table")) {
    if (!table.caption) wrong.push("a table without a caption");
    for (const head of table.querySelectorAll("th")) if (!head.scope) wrong.push("th without scope");
  }
  for (const part of document.querySelectorAll("section")) {
    if (!part.getAttribute("aria-label") && !part.getAttribute("aria-labelledby")) wrong.push("section");
  }
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not one h1");
  if (document.querySelectorAll("main").length !== 1) wrong.push("not one main");
  const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
  for (const id of ids.filter((each, at) => ids.indexOf(each) !== at)) wrong.push(`twice: ${id}`);
  return wrong;
})()
