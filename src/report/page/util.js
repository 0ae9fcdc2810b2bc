'use strict';

/* Elements, numbers for people, and small things that every part of the page uses. Texts of a
 * profile reach the page as text nodes and as values of attributes that name nothing, never as
 * markup. */

function h(tag, props, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(props || {})) {
        if (value === null || value === undefined || value === false)
            continue;
        if (key.startsWith('on'))
            element.addEventListener(key.slice(2), value);
        else if (key === 'class')
            element.className = value;
        else
            element.setAttribute(key, value === true ? '' : String(value));
    }
    add(element, children);
    return element;
}

function add(element, children) {
    for (const child of children.flat(Infinity))
        if (child !== null && child !== undefined && child !== false)
            element.append(child instanceof Node ? child : String(child));
}

function replace(element, ...children) {
    element.replaceChildren();
    add(element, children);
}

const isNumber = value => typeof value === 'number' && Number.isFinite(value);

const STEPS = {
    's': [[1e-9, 'ns'], [1e-6, 'µs'], [1e-3, 'ms'], [1, 's']],
    'bytes': [[1, 'B'], [1e3, 'kB'], [1e6, 'MB'], [1e9, 'GB'], [1e12, 'TB']],
    'bytes/s': [[1, 'B/s'], [1e3, 'kB/s'], [1e6, 'MB/s'], [1e9, 'GB/s'], [1e12, 'TB/s']],
    'flop/s': [[1, 'FLOP/s'], [1e3, 'kFLOP/s'], [1e6, 'MFLOP/s'], [1e9, 'GFLOP/s'],
               [1e12, 'TFLOP/s'], [1e15, 'PFLOP/s']],
    'flop': [[1, 'FLOP'], [1e3, 'kFLOP'], [1e6, 'MFLOP'], [1e9, 'GFLOP'], [1e12, 'TFLOP']],
};

/* Four digits that count. */
function digits(value) {
    const size = Math.abs(value);
    if (size === 0)
        return '0';
    if (size >= 1e6 && size < 1e15)
        return grouped(value);
    if (size < 1e-3 || size >= 1e15)
        return value.toPrecision(4);
    return value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4);
}

const grouped = value => Math.round(value).toLocaleString('en-US');

function format(value, unit) {
    if (!isNumber(value))
        return '–';
    const steps = STEPS[unit];
    if (steps) {
        let step = steps[0];
        for (const next of steps)
            if (Math.abs(value) >= next[0] * 0.99995)
                step = next;
        return `${digits(value / step[0])} ${step[1]}`;
    }
    if (unit === '%')
        return `${value.toFixed(Math.abs(value) >= 10 ? 1 : 2)} %`;
    if (unit === 'ratio')
        return value === 0 || Math.abs(value) >= 0.01 ? value.toFixed(3)
            : Math.abs(value) >= 1e-4 ? value.toPrecision(2) : value.toExponential(1);
    if (unit === '' || unit === 'count')
        return Number.isInteger(value) ? grouped(value) : digits(value);
    return `${digits(value)} ${unit}`;
}

/* Without a unit that the head of a table has. */
const cellText = (value, unit) => format(value, unit).replace(/ flop\/byte$|FLOP\/s$/, '');

const percent = share => `${(100 * share).toFixed(share >= 0.0995 ? 0 : 1)} %`;
const plural = (n, word) => `${grouped(n)} ${word}${n === 1 ? '' : /(ch|s|x)$/.test(word) ? 'es' : 's'}`;

/* "32×8" of [32, 8, 1]. */
function extent(three) {
    const kept = three[2] > 1 ? 3 : three[1] > 1 ? 2 : 1;
    return three.slice(0, kept).join('×');
}

/* A change from a to b, as "−12 %". */
function change(a, b) {
    if (!isNumber(a) || !isNumber(b) || a === 0)
        return '';
    const share = b / a - 1;
    if (Math.abs(share) < 0.0005)
        return '±0 %';
    if (share >= 9)
        return `×${digits(b / a)}`;
    return `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(Math.abs(share) < 0.1 ? 1 : 0)} %`;
}

/* A name that may be broken where its words end. */
const breakable = name => name.split(/(?<=[_,:<])(?=[^_,:<])/).flatMap((part, i) => i > 0 ? [h('wbr'), part] : part);

function shorten(name, width) {
    if (name.length <= width)
        return name;
    const back = Math.floor((width - 1) * 0.4);
    return `${name.slice(0, width - 1 - back)}…${name.slice(name.length - back)}`;
}

/* A long text is folded: its begin and its end, all of it when it is opened. */
const MOST_UNFOLDED = 160;

function folded(text) {
    if (text.length <= MOST_UNFOLDED)
        return text;
    return h('details', {class: 'folded'}, h('summary', {},
        h('span', {class: 'short'}, `${shorten(text, 110)} `),
        h('span', {class: 'muted'}, `(${grouped(text.length)} letters)`)), h('div', {}, text));
}

const inLines = (text, width) => text.match(new RegExp(`.{1,${width}}`, 'gsu')) ?? [];

function bytesOf(base64) {
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++)
        bytes[i] = text.charCodeAt(i);
    return bytes.buffer;
}

const cssColor = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
