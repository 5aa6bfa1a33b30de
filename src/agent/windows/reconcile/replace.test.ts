import { expect, test } from 'vitest'
import { placesOf, replacing } from './replace-program.ts'
import type { ProgramSeen } from './worker-observation.ts'
import type { Step } from './step.ts'

const program = { path: String.raw`C:\k\kubelet.exe`, sha256: 'wanted' }
const { staged, aside } = placesOf(program)
const places = { [program.path]: 'target', [staged]: 'staged', [aside]: 'aside' } as const
const contents = [undefined, 'wanted', 'former', 'damaged']
const states: ProgramSeen[] = contents.flatMap((target) =>
  contents.flatMap((new_) => contents.map((old) => ({ target, staged: new_, aside: old }))),
)

/** What a step makes of the files; nothing where Windows refuses it, because that file is what runs. */
function after(
  seen: ProgramSeen,
  step: Step,
  running: keyof ProgramSeen | undefined,
): ProgramSeen | undefined {
  const placeOf = (path: string): keyof ProgramSeen => places[path] ?? 'target'
  if (step.do === 'fetch') return { ...seen, staged: 'wanted' }
  if (step.do === 'discard')
    return placeOf(step.path) === running ? undefined : { ...seen, [placeOf(step.path)]: undefined }
  if (step.do !== 'move' || seen[placeOf(step.to)] !== undefined) return undefined
  return { ...seen, [placeOf(step.from)]: undefined, [placeOf(step.to)]: seen[placeOf(step.from)] }
}

const runnings = [undefined, 'target', 'aside'] as const
const cases = states.flatMap((seen) => runnings.map((running) => ({ ...seen, running })))

test.each(cases)(
  'from $target, new $staged, old $aside, while $running runs, the program comes to its place',
  ({ running: first, ...start }) => {
    let seen: ProgramSeen = start
    let running: 'target' | 'aside' | undefined = first
    const hasOne = ({ target, staged: new_, aside: old }: ProgramSeen): boolean =>
      [target, new_, old].some((one) => one === 'wanted' || one === 'former')
    for (let count = 0; seen.target !== 'wanted'; count++) {
      expect(count).toBeLessThan(6)
      const had = hasOne(seen)
      const [next] = replacing('kubelet', program, seen).flatMap((step) => {
        const state = after(seen, step, running)
        return state === undefined ? [] : [{ step, state }]
      })
      if (next === undefined) throw new Error('there is nothing that could be done')
      // What runs goes with its file.
      if (next.step.do === 'move' && next.step.from === program.path && running === 'target')
        running = 'aside'
      else if (next.step.do === 'move' && next.step.from === aside && running === 'aside') running = 'target'
      seen = next.state
      expect(hasOne(seen)).toBe(had || next.step.do === 'fetch')
    }
    const rest = replacing('kubelet', program, seen)
    expect(rest.every((step) => step.do === 'discard' && step.path !== program.path)).toBe(true)
  },
)

test('without a new one nothing is taken away', () => {
  const kinds = states
    .filter(({ target, staged: new_ }) => target !== 'wanted' && new_ !== 'wanted')
    .flatMap((seen) => replacing('kubelet', program, seen).map((step) => step.do))
  expect(new Set(kinds)).toEqual(new Set(['fetch', 'move']))
})
