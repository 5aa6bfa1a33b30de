import { expect, test } from 'vitest'
import { HyperkubeError } from '../../kit/errors.ts'
import { type Look, rounds, varied } from './run-loop.ts'

/** Looks until there are no more answers; how long was waited before each, and what was said. */
async function course(answers: readonly (() => Promise<Look>)[], random = 1) {
  const stop = new AbortController()
  const [pauses, said]: [number[], string[]] = [[], []]
  let looked = 0
  await rounds({
    look: async () => {
      const answer = answers[looked++]
      if (answer !== undefined) return answer()
      stop.abort()
      throw new Error('it shall end')
    },
    first: 30,
    usual: 60,
    clock: { now: () => new Date(0), pause: async (milliseconds) => void pauses.push(milliseconds) },
    random: () => random,
    say: (text) => void said.push(text),
    signal: stop.signal,
  })
  return { pauses, said }
}

const well = async (): Promise<Look> => ({ next: 600, troubles: [] })
const away = async (): Promise<Look> => ({ next: 600 })
const trouble = (code: string) => async (): Promise<Look> => ({
  next: 600,
  troubles: [new HyperkubeError(code, 'the message', { hint: 'the hint' })],
})

test('looks as often as the look before it says, and after a failure as usual', async () => {
  const fails = async (): Promise<Look> => Promise.reject(new Error('no disk'))
  expect(await course([well, fails, well])).toEqual({
    pauses: [30, 600, 60, 600],
    said: ['UNEXPECTED: no disk'],
  })
})

test('the same trouble is told once, until it was gone', async () => {
  const [denied, unreachable] = [trouble('RENEWAL_DENIED'), trouble('KUBE_UNREACHABLE')]
  const { said } = await course([denied, denied, away, denied, unreachable, denied, well, denied])
  expect(said).toEqual([
    'RENEWAL_DENIED: the message -> the hint',
    'KUBE_UNREACHABLE: the message -> the hint',
    'RENEWAL_DENIED: the message -> the hint',
    'RENEWAL_DENIED: the message -> the hint',
  ])
})

test('an agent that shall end waits for nothing', async () => {
  const stop = new AbortController()
  const clock = {
    now: () => new Date(0),
    pause: async (): Promise<void> => {
      stop.abort()
      throw new Error('aborted')
    },
  }
  const look = async (): Promise<Look> => Promise.reject(new Error('nobody looks'))
  const say = (): void => expect.fail('nobody complains')
  await rounds({ look, first: 1, usual: 1, clock, random: () => 0, say, signal: stop.signal })
})

test('no two hosts have the same rhythm, and none comes late', () => {
  expect([0, 0.5, 1].map((random) => varied(600, random))).toEqual([450, 525, 600])
})
