import { expect, test } from 'vitest'
import type { DesiredAddon } from '../../addons/desired-addons.ts'
import { diffNewAddon } from '../../addons/diff-addon.ts'
import { noAddons } from '../addons/proposal.ts'
import { createEarlyApply, type EarlyApplyOptions } from './apply-addons.ts'

const addon = (name: string): DesiredAddon => ({
  name,
  manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }],
  wait: true,
  timeoutMs: 60_000,
  description: '',
})

function setup(applyAddonNoWait: EarlyApplyOptions['client']['applyAddonNoWait']) {
  const changed = diffNewAddon(addon('traefik'))
  const desired = ['coredns', 'traefik', 'local-path', 'shop'].map(addon)
  const differences = [
    diffNewAddon(addon('coredns')),
    { ...changed, objects: changed.objects.map((object) => ({ ...object, change: 'none' as const })) },
    diffNewAddon(addon('shop')),
  ]
  return createEarlyApply(
    { ...noAddons, desired, differences },
    { client: { applyAddonNoWait }, now: () => new Date(), signal: new AbortController().signal },
  )
}

test('only new built-in addons are applied early, and only after begin', async () => {
  const applied: string[] = []
  const earlyApply = setup(async ({ name }) => void applied.push(name))
  await earlyApply.end()
  expect(applied).toEqual([])
  earlyApply.begin()
  await earlyApply.end()
  expect(applied).toEqual(['coredns'])
})

test('a failed early apply throws nothing, and dispose aborts a pending one', async () => {
  const broken = setup(async () => {
    throw new Error('broken')
  })
  broken.begin()
  await broken.end()
  let ended = false
  const slow = setup(
    async (_, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          ended = true
          resolve()
        })
      }),
  )
  slow.begin()
  await slow[Symbol.asyncDispose]()
  expect(ended).toBe(true)
})
