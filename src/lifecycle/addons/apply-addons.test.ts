import { expect, test } from 'vitest'
import { entirely } from '../../addons/new-addon-diff.ts'
import type { WishedAddon } from '../../addons/desired-addons.ts'
import type { What } from '../event-stream.ts'
import { noAddons } from './proposal.ts'
import { addonWork } from './apply-addons.ts'

const manifest = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const addon = (name: string): WishedAddon => ({
  name,
  manifests: [manifest(name)],
  wait: true,
  timeout: 60_000,
  about: '',
})
const [dns, metrics, shop, more] = ['coredns', 'metrics-server', 'shop', 'more'].map(addon)
const left = { code: 'ADDON_OBJECT_LEFT', severity: 'warning' as const, message: 'it stays' }

function work(wished: readonly WishedAddon[], changed: readonly string[]) {
  const done: string[] = []
  const told: What[] = []
  const works = addonWork(
    { ...noAddons, wished, differences: changed.map((name) => entirely(addon(name))) },
    {
      interior: {
        async putAddon({ name }, { others }) {
          done.push(`put ${name} beside ${others.map((other) => other.name).join(', ')}`)
          return { removed: [], findings: [left] }
        },
        async removeAddon(name) {
          done.push(`remove ${name}`)
          return { removed: [], findings: [] }
        },
      },
      tell: (what) => void told.push(what),
      now: () => new Date(),
      signal: new AbortController().signal,
    },
  )
  return { works, done, told }
}

test('ours go together, the user’s own one after the other, and what is not wished goes last', async () => {
  const wished = [dns, metrics, shop, more].flatMap((one) => one ?? [])
  const { works, done, told } = work(wished, ['coredns', 'metrics-server', 'shop', 'more', 'old'])
  expect(works.map(({ title }) => title)).toEqual([
    'addon coredns, metrics-server',
    'addon shop',
    'addon more',
    'addon old, which goes',
  ])
  for (const { work: act } of works) await act()
  expect(done).toEqual([
    'put coredns beside metrics-server, shop, more',
    'put metrics-server beside coredns, shop, more',
    'put shop beside coredns, metrics-server, more',
    'put more beside coredns, metrics-server, shop',
    'remove old',
  ])
  expect(told).toContainEqual({ type: 'finding', finding: left })
})

test('those that are as wished are left alone', () => {
  const wished = [dns, shop].flatMap((one) => one ?? [])
  expect(work(wished, ['shop']).works.map(({ title }) => title)).toEqual(['addon shop'])
  expect(work(wished, []).works).toEqual([])
})
