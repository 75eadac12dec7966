/* What a page does beside its charts: search, sorting, and the way from a finding to the timeline. */
"use strict";

function search(input) {
  const rows = [...document.getElementById(input.dataset.search).tBodies[0].rows];
  const names = rows.map((row) => row.cells[0].textContent.toLowerCase());
  const found = document.querySelector("[data-found]");
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, at) => {
      row.hidden = !words.every((word) => names[at].includes(word));
      count += row.hidden ? 0 : 1;
    });
    found.textContent = words.length ? `${count.toLocaleString("en")} of ${rows.length.toLocaleString("en")}` : `${rows.length.toLocaleString("en")} groups`;
  };
  input.addEventListener("input", show);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { input.value = ""; show(); }
    const first = rows.find((row) => !row.hidden);
    if (event.key === "Enter" && first && input.value) first.querySelector("a").click();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input, textarea")) return;
    event.preventDefault();
    input.focus();
  });
  show();
}

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, at) => row.cells[at].dataset.value ?? row.cells[at].textContent;
  const compare = (a, b) => (a !== "" && b !== "" && !Number.isNaN(+a) && !Number.isNaN(+b) ? a - b : a.localeCompare(b));
  heads.forEach((head, at) => head.querySelector("button").addEventListener("click", () => {
    const isDown = head.ariaSort === "descending" || (!head.ariaSort && !head.classList.contains("number"));
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", isDown ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].sort((a, b) => compare(value(a, at), value(b, at)) * (isDown ? 1 : -1));
    table.tBodies[0].append(...rows);
  }));
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[data-until]").forEach((node) => { node.textContent = REPORT.until ? Look.moment(REPORT.until) : "not known"; });
  document.querySelectorAll("[data-search]").forEach(search);
  document.querySelectorAll("[data-sortable]").forEach(sortable);
  document.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", () => {
    const [begin, end] = button.dataset.zoom.split(" ").map(Number);
    const chart = CHARTS.find((each) => each.kind === Timeline);
    if (!chart) return;
    const room = Math.max((end - begin) * 0.05, 1000);
    chart.zoom(begin - room, end + room);
    document.getElementById("timeline").scrollIntoView();
    chart.node.focus({ preventScroll: true });
  }));
});
