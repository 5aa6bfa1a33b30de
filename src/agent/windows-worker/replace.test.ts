import { expect, test } from 'vitest'
import { buildProgramPaths, listReplaceSteps } from './replace-program.ts'
import type { ReconcileStep } from './step.ts'
import type { ProgramObservation } from './worker.ts'

const program = { path: String.raw`C:\k\kubelet.exe`, sha256: 'wanted' }
const { staged, previous } = buildProgramPaths(program)
const locations = { [program.path]: 'target', [staged]: 'staged', [previous]: 'previous' } as const
const contents = [undefined, 'wanted', 'outdated', 'damaged']
const states: ProgramObservation[] = contents.flatMap((target) =>
  contents.flatMap((new_) => contents.map((old) => ({ target, staged: new_, previous: old }))),
)

/** Returns the files after a step, or undefined if Windows refuses the step because the file is in use. */
function after(
  observed: ProgramObservation,
  step: ReconcileStep,
  running: keyof ProgramObservation | undefined,
): ProgramObservation | undefined {
  const findLocation = (path: string): keyof ProgramObservation => locations[path] ?? 'target'
  if (step.do === 'fetch') return { ...observed, staged: 'wanted' }
  if (step.do === 'discard')
    return findLocation(step.path) === running
      ? undefined
      : { ...observed, [findLocation(step.path)]: undefined }
  if (step.do !== 'move' || observed[findLocation(step.to)] !== undefined) return undefined
  return {
    ...observed,
    [findLocation(step.from)]: undefined,
    [findLocation(step.to)]: observed[findLocation(step.from)],
  }
}

const runnings = [undefined, 'target', 'previous'] as const
const cases = states.flatMap((observed) => runnings.map((running) => ({ ...observed, running })))

test.each(cases)(
  'from $target, new $staged, old $previous, while $running runs, the program is replaced',
  ({ running: first, ...start }) => {
    let observed: ProgramObservation = start
    let running: 'target' | 'previous' | undefined = first
    const hasUsableProgram = ({ target, staged: new_, previous: old }: ProgramObservation): boolean =>
      [target, new_, old].some((one) => one === 'wanted' || one === 'outdated')
    for (let count = 0; observed.target !== 'wanted'; count++) {
      expect(count).toBeLessThan(6)
      const hadProgram = hasUsableProgram(observed)
      const [next] = listReplaceSteps('kubelet', program, observed).flatMap((step) => {
        const state = after(observed, step, running)
        return state === undefined ? [] : [{ step, state }]
      })
      if (next === undefined) throw new Error('there is nothing that could be done')
      // A process keeps running from its file when the file is moved.
      if (next.step.do === 'move' && next.step.from === program.path && running === 'target')
        running = 'previous'
      else if (next.step.do === 'move' && next.step.from === previous && running === 'previous')
        running = 'target'
      observed = next.state
      expect(hasUsableProgram(observed)).toBe(hadProgram || next.step.do === 'fetch')
    }
    const rest = listReplaceSteps('kubelet', program, observed)
    expect(rest.every((step) => step.do === 'discard' && step.path !== program.path)).toBe(true)
  },
)

test('without a new program nothing is removed', () => {
  const kinds = states
    .filter(({ target, staged: new_ }) => target !== 'wanted' && new_ !== 'wanted')
    .flatMap((observed) => listReplaceSteps('kubelet', program, observed).map((step) => step.do))
  expect(new Set(kinds)).toEqual(new Set(['fetch', 'move']))
})
