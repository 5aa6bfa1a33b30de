import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyEvents } from './testing/arbitrary-events.ts'
import { erase, type Frame, noFrame, redraw } from './frame.ts'
import { recordingStart, toEvents } from './testing/fixtures.ts'
import { toPlainText, measureLine } from './line.ts'
import { initialPlainState, renderPlain } from './plain-progress.ts'
import { reduceEvents } from './reduce-events.ts'
import { initialRunState } from './run-state.ts'
import { formatEndSummary, formatStepsSummary } from './summary.ts'
import { layoutTree } from './tree-layout.ts'

const paint = (_colour: string, text: string): string => text
// oxlint-disable-next-line no-control-regex -- the test searches for these characters
const controls = /[\u0000-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/
const size = fc.record({ columns: fc.integer({ min: 1, max: 200 }), rows: fc.integer({ min: 1, max: 60 }) })

test('no frame exceeds the terminal size or contains control characters', () => {
  fc.assert(
    fc.property(
      anyEvents,
      size,
      fc.double({ min: 0, max: 100_000, noNaN: true }),
      (entries, terminal, seconds) => {
        const state = reduceEvents(initialRunState, toEvents(entries))
        const lines = layoutTree(state, recordingStart + seconds * 1000, terminal)
        expect(lines.length).toBeLessThan(Math.max(1, terminal.rows))
        for (const line of lines) {
          expect(measureLine(line)).toBeLessThanOrEqual(terminal.columns)
          expect(toPlainText(line)).not.toMatch(controls)
        }
      },
    ),
  )
})

test('summaries and plain lines contain no control characters except line ends', () => {
  fc.assert(
    fc.property(anyEvents, (entries) => {
      const events = toEvents(entries)
      const state = reduceEvents(initialRunState, events)
      const texts = [
        formatStepsSummary(state, 80, paint),
        formatEndSummary(state, paint),
        renderPlain(initialPlainState, events, paint).text,
      ]
      for (const text of texts) expect(text.replaceAll(/[\n\t]/g, '')).not.toMatch(controls)
    }),
  )
})

test('plain lines are equal for events one by one and all at once', () => {
  fc.assert(
    fc.property(anyEvents, (entries) => {
      const events = toEvents(entries)
      let state = initialPlainState
      let text = ''
      for (const event of events) {
        const next = renderPlain(state, [event], paint)
        text += next.text
        state = next
      }
      expect(renderPlain(initialPlainState, events, paint).text).toBe(text)
    }),
  )
})

test('redraw replaces any previous frame and restores the cursor', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 20 })
  const frame = fc.array(line, { maxLength: 8 }).map(toFrame)
  fc.assert(
    fc.property(fc.array(frame, { minLength: 1, maxLength: 6 }), (frames) => {
      const screen = new FakeScreen()
      let previous = noFrame
      screen.write('before\n')
      for (const next of frames) {
        screen.write(redraw(previous, next, 20))
        previous = next
        expect(screen.lines()).toEqual(['before', ...next.lines.map((text) => text.trimEnd()), ''])
        expect(screen.isRestored).toBe(true)
      }
      screen.write(erase(previous, 20))
      expect(screen.lines()).toEqual(['before', ''])
    }),
  )
})

function toFrame(lines: readonly string[]): Frame {
  return { lines, widths: lines.map((line) => line.length) }
}

/** Fake terminal that understands only the control sequences that frames use, and fails on all others. */
class FakeScreen {
  readonly #rows: string[] = ['']
  #row = 0
  #column = 0
  #cursor = true
  #wrap = true

  get isRestored(): boolean {
    return this.#cursor && this.#wrap && this.#column === 0 && this.#row === this.#rows.length - 1
  }

  lines(): readonly string[] {
    return this.#rows.map((row) => row.trimEnd())
  }

  write(text: string): void {
    // oxlint-disable-next-line no-control-regex -- terminal control sequences begin with a control character
    for (const [token] of text.matchAll(/\u001B\[[?\d]*[a-zA-Z]|[^]/g)) this.#apply(token)
  }

  #apply(token: string): void {
    const row = this.#rows[this.#row] ?? ''
    const up = /^.\[(\d+)A$/.exec(token)
    if (up !== null) this.#row = Math.max(0, this.#row - Number(up[1]))
    else if (token === '\u001B[K') this.#rows[this.#row] = row.slice(0, this.#column)
    else if (token === '\u001B[J') this.#rows.splice(this.#row, Infinity, row.slice(0, this.#column))
    else if (token === '\u001B[?25l') this.#cursor = false
    else if (token === '\u001B[?25h') this.#cursor = true
    else if (token === '\u001B[?7l') this.#wrap = false
    else if (token === '\u001B[?7h') this.#wrap = true
    else if (token === '\r') this.#column = 0
    else if (token === '\n') {
      this.#row++
      this.#column = 0
      this.#rows[this.#row] ??= ''
    } else {
      if (token < ' ') throw new Error(`unknown control character ${JSON.stringify(token)}`)
      this.#rows[this.#row] =
        row.slice(0, this.#column).padEnd(this.#column) + token + row.slice(this.#column + 1)
      this.#column++
    }
  }
}
