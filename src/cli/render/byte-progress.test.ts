import { expect, test } from 'vitest'
import { openByteProgress } from './byte-progress.ts'

function setup(screen?: { size: () => { columns: number; rows: number } }) {
  const written: string[] = []
  let tick = (): void => undefined
  const progress = openByteProgress({
    stderr: { write: (text) => written.push(text) },
    screen,
    paintProgress: (_colour, text) => text,
    repeat(_milliseconds, callback) {
      tick = callback
      return () => undefined
    },
  })
  return { progress, written, tick: () => tick() }
}

test('without a terminal a large transfer prints ten lines, and a small one none', () => {
  const { progress, written } = setup()
  const [large, small] = [progress.track('database'), progress.track('list')]
  for (let done = 0; done <= 100e6; done += 1e6) large(done, 100e6)
  for (let done = 0; done <= 1e6; done += 1e5) small(done, 1e6)
  expect(written).toHaveLength(10)
  expect(written.at(-1)).toBe('database: 100.0 of 100.0 MB\n')
})

test('on a terminal one line shows the progress, and other lines are printed above', () => {
  const { progress, written, tick } = setup({ size: () => ({ columns: 80, rows: 24 }) })
  const report = progress.track('database')
  tick()
  expect(written).toEqual([])
  report(1_500_000, 3_000_000)
  tick()
  expect(written.join('')).toContain('database: 1.5 of 3.0 MB')
  progress.writeLine('restoring')
  expect(written.at(-1)).toContain('restoring\n')
  progress[Symbol.dispose]()
})
