import { expect, test } from 'vitest'
import { renderRecording, splitStyles } from './recording.ts'

const escape = '\u001B['

test('a line is split at its styles', () => {
  expect(splitStyles(`${escape}1mName${escape}0m ${escape}32mready${escape}39m.`)).toEqual([
    { text: 'Name', colour: undefined, bold: true, dim: false },
    { text: ' ', colour: undefined, bold: false, dim: false },
    { text: 'ready', colour: '#71d083', bold: false, dim: false },
    { text: '.', colour: undefined, bold: false, dim: false },
  ])
})

test('a recording has stacked frames, shortened pauses and escaped text', () => {
  const frames = [
    { at: 0, text: '$ a < b' },
    { at: 500, text: 'two' },
    { at: 60_000, text: 'three' },
  ]
  const svg = renderRecording(frames, { columns: 10, rows: 2 })
  // The frames appear at 0 s, 0.5 s and 2 s, and the last frame stays for six more seconds.
  expect(svg).toContain('play 8.0s')
  expect(svg).toContain('0.000%{transform:translateY(0px)}6.250%')
  expect(svg).toContain('$ a &lt; b')
  expect(svg).not.toContain('<script')
})
