import { expect, test } from 'vitest'
import type { DesiredAddon } from '../../addons/desired-addons.ts'
import { diffNewAddon } from '../../addons/diff-addon.ts'
import { noAddons } from '../addons/proposal.ts'
import type { EventBody } from '../agents/event-stream.ts'
import { planAddonTasks, planNetworkAddonTasks } from './apply-addons.ts'

const manifest = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const addon = (name: string): DesiredAddon => ({
  name,
  manifests: [manifest(name)],
  wait: true,
  timeoutMs: 60_000,
  description: '',
})
const [dns, metrics, shop, more] = ['coredns', 'metrics-server', 'shop', 'more'].map(addon)
const left = { code: 'ADDON_OBJECT_LEFT', severity: 'warning' as const, message: 'it stays' }

function work(desired: readonly DesiredAddon[], changed: readonly string[]) {
  const done: string[] = []
  const emitted: EventBody[] = []
  const works = planAddonTasks(
    { ...noAddons, desired, differences: changed.map((name) => diffNewAddon(addon(name))) },
    {
      client: {
        async applyAddon({ name }, { others }) {
          done.push(`put ${name} beside ${others.map((other) => other.name).join(', ')}`)
          return { removed: [], findings: [left] }
        },
        async removeAddon(name) {
          done.push(`remove ${name}`)
          return { removed: [], findings: [] }
        },
      },
      emit: (what) => void emitted.push(what),
      now: () => new Date(),
      signal: new AbortController().signal,
    },
  )
  return { works, done, emitted }
}

test('built-in addons go together, user addons one by one, and removed addons last', async () => {
  const desired = [dns, metrics, shop, more].flatMap((one) => one ?? [])
  const { works, done, emitted } = work(desired, ['coredns', 'metrics-server', 'shop', 'more', 'old'])
  expect(works.map(({ title }) => title)).toEqual([
    'addon coredns, metrics-server',
    'addon shop',
    'addon more',
    'addon old (removed)',
  ])
  for (const { work: act } of works) await act()
  expect(done).toEqual([
    'put coredns beside metrics-server, shop, more',
    'put metrics-server beside coredns, shop, more',
    'put shop beside coredns, metrics-server, more',
    'put more beside coredns, metrics-server, shop',
    'remove old',
  ])
  expect(emitted).toContainEqual({ type: 'finding', finding: left })
})

test('addons without changes are not applied', () => {
  const desired = [dns, shop].flatMap((one) => one ?? [])
  expect(work(desired, ['shop']).works.map(({ title }) => title)).toEqual(['addon shop'])
  expect(work(desired, []).works).toEqual([])
})

test('the network addon is applied before nodes exist, without a wait, and is the first of the addons', async () => {
  const applied: string[] = []
  const options = {
    client: {
      async applyAddon({ name, wait }: { name: string; wait?: boolean }) {
        applied.push(`${name} ${wait}`)
        return { removed: [], findings: [] }
      },
      removeAddon: async () => ({ removed: [], findings: [] }),
    },
    emit: () => undefined,
    now: () => new Date(),
    signal: new AbortController().signal,
  }
  const desired = [dns, shop, more].flatMap((one) => one ?? [])
  const differences = desired.map(diffNewAddon)
  const proposal = { ...noAddons, desired, differences }
  expect(planAddonTasks(proposal, options, 'more').map(({ title }) => title)).toEqual([
    'addon more',
    'addon coredns',
    'addon shop',
  ])
  const tasks = planNetworkAddonTasks(proposal, options, 'more')
  expect(tasks.map(({ title }) => title)).toEqual(['objects of the network addon more'])
  for (const { work: act } of tasks) await act()
  expect(applied).toEqual(['more false'])
  expect(planNetworkAddonTasks(proposal, options, undefined)).toEqual([])
  expect(planNetworkAddonTasks({ ...proposal, differences: [] }, options, 'more')).toEqual([])
  const changed = differences.map((one) => ({
    ...one,
    objects: one.objects.map((object) => ({ ...object, change: 'none' as const })),
  }))
  expect(planNetworkAddonTasks({ ...proposal, differences: changed }, options, 'more')).toEqual([])
  const unfinished = changed.map((one) => ({ ...one, unfinished: true as const }))
  expect(planNetworkAddonTasks({ ...proposal, differences: unfinished }, options, 'more')).toHaveLength(1)
})
