/* Light and dark, the settings of Chart.js that follow from it, and the charts, drawn anew when it
 * changes. */

const PRINT_RATIO = 3; /* dots for each pixel */

const theme = {
    choice: 'auto', /* or 'light', 'dark' */
    printing: false,
    charts: new Map(), /* canvas to {chart, make} */
    listeners: [],
};

function storedTheme() {
    try {
        return localStorage.getItem('gpuprof-theme') || 'auto';
    } catch {
        return 'auto'; /* a browser may forbid it to files */
    }
}

function isDark() {
    if (theme.printing || theme.choice === 'light')
        return false;
    return theme.choice === 'dark' || matchMedia('(prefers-color-scheme: dark)').matches;
}

function setTheme(choice) {
    theme.choice = choice;
    try {
        localStorage.setItem('gpuprof-theme', choice);
    } catch {
        /* then it is forgotten */
    }
    applyTheme();
}

function applyTheme() {
    document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
    Chart.defaults.devicePixelRatio = theme.printing ? PRINT_RATIO : undefined;
    Chart.defaults.color = cssColor('--muted');
    Chart.defaults.borderColor = cssColor('--grid');
    for (const [canvas, entry] of theme.charts) {
        entry.chart.destroy();
        entry.chart = new Chart(canvas, entry.make());
    }
    for (const listener of theme.listeners)
        listener();
}

/* Shows a chart in a canvas; `make` gives its configuration, each time the colors change. */
function showChart(canvas, make) {
    dropChart(canvas);
    theme.charts.set(canvas, {chart: new Chart(canvas, make()), make});
    return theme.charts.get(canvas).chart;
}

function dropChart(canvas) {
    const entry = theme.charts.get(canvas);
    if (entry)
        entry.chart.destroy();
    theme.charts.delete(canvas);
}

function dropChartsIn(element) {
    for (const canvas of element.querySelectorAll('canvas'))
        dropChart(canvas);
}

/* Pictures do not become narrower by themselves on paper: while the page is printed it is as wide as a sheet
 * (page.css), the charts are drawn anew for it, and tables that are wider become smaller. */
function setPrinting(printing) {
    theme.printing = printing;
    document.documentElement.toggleAttribute('data-printing', printing);
    for (const box of main.querySelectorAll('.scroll'))
        fitOnSheet(box, printing);
    applyTheme();
}

/* Twice, as a table becomes smaller by less than its text. */
function fitOnSheet(box, printing) {
    const table = box.firstChild;
    table.style.fontSize = '';
    for (let i = 0; printing && i < 2 && box.scrollWidth > box.clientWidth; i++)
        table.style.fontSize = `${parseFloat(getComputedStyle(table).fontSize) * box.clientWidth / box.scrollWidth}px`;
}

function startTheme() {
    theme.choice = storedTheme();
    Object.assign(Chart.defaults, {animation: false, maintainAspectRatio: false, responsive: true});
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 12;
    Chart.defaults.plugins.legend.labels.boxWidth = 12;
    Object.assign(Chart.defaults.plugins.tooltip, {padding: 10, boxPadding: 4, cornerRadius: 6});
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);
    addEventListener('beforeprint', () => setPrinting(true));
    addEventListener('afterprint', () => setPrinting(false));
    applyTheme();
}
