import { expect, test } from 'vitest'
import { HangDetector } from './hang-detector.ts'
import { createFakeProbeDeps, testComponent } from './testing/fake-probe-deps.ts'

function setUp() {
  const deps = createFakeProbeDeps()
  let now = 0
  const detector = new HangDetector({ ...deps, monotonic: () => now })
  /** Reports a timeout of the probe `after` milliseconds after the previous timeout. */
  const beSilent = async (after: number, state: string, ticks: number, pid = 7) => {
    now += after
    deps.units.set('etcd.service', { active: 'active', sub: 'running', pid })
    deps.texts.set(`/proc/${pid}/stat`, formatStat(pid, state, ticks))
    return detector.findSign(testComponent('etcd'))
  }
  const addThread = (id: number, state: string): void =>
    void deps.texts.set(`/proc/7/task/${id}/stat`, formatStat(id, state, 0))
  return { beSilent, addThread }
}

function formatStat(id: number, state: string, ticks: number): string {
  const zeros = Array.from({ length: 10 }, () => '0').join(' ')
  return `${id} (a b) c) ${state} ${zeros} ${ticks} 0 0`
}

test('a stopped process hangs at the first missing response', async () => {
  expect(await setUp().beSilent(0, 'T', 5)).toBe('process 7 is stopped')
})

test('a sleeping process hangs if it used no processor time between two missing responses', async () => {
  const { beSilent } = setUp()
  expect(await beSilent(0, 'S', 100)).toBeUndefined()
  expect(await beSilent(10_000, 'S', 101)).toBe('process 7 uses no processor time')
})

test.each([
  ['works', [10_000, 'S', 130]],
  ['waits for a disk', [10_000, 'D', 100]],
  ['runs', [10_000, 'R', 100]],
  ['missed its previous response long ago', [61_000, 'S', 100]],
  ['is another process', [10_000, 'S', 100, 8]],
] as const)(
  'a process without a response that %s shows no sign of a hang',
  async (_what, [after, state, ticks, pid]) => {
    const { beSilent } = setUp()
    await beSilent(0, 'S', 100)
    expect(await beSilent(after, state, ticks, pid)).toBeUndefined()
  },
)

test.each([
  ['S', 'process 7 uses no processor time'],
  ['D', undefined],
])('if a thread of a sleeping process has the state %s, the sign of a hang is %s', async (state, sign) => {
  const { beSilent, addThread } = setUp()
  addThread(7, 'S')
  addThread(8, state)
  await beSilent(0, 'S', 100)
  expect(await beSilent(10_000, 'S', 100)).toBe(sign)
})

test('a service without a process shows no sign of a hang', async () => {
  expect(await setUp().beSilent(0, 'T', 5, 0)).toBeUndefined()
})
