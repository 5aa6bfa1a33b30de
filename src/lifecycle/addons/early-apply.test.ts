import { expect, test } from 'vitest'
import { entirely } from '../../addons/new-addon-diff.ts'
import type { WishedAddon } from '../../addons/desired-addons.ts'
import { type AheadOptions, aheadOf } from './early-apply.ts'
import { noAddons } from './proposal.ts'

const addon = (name: string): WishedAddon => ({
  name,
  manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }],
  wait: true,
  timeout: 60_000,
  about: '',
})

function scene(layAddon: AheadOptions['interior']['layAddon']) {
  const changed = entirely(addon('traefik'))
  const wished = ['coredns', 'traefik', 'local-path', 'shop'].map(addon)
  const differences = [
    entirely(addon('coredns')),
    { ...changed, objects: changed.objects.map((object) => ({ ...object, change: 'none' as const })) },
    entirely(addon('shop')),
  ]
  return aheadOf(
    { ...noAddons, wished, differences },
    { interior: { layAddon }, now: () => new Date(), signal: new AbortController().signal },
  )
}

test('only what is ours and altogether new is begun with, and only when it is time', async () => {
  const laid: string[] = []
  const ahead = scene(async ({ name }) => void laid.push(name))
  await ahead.end()
  expect(laid).toEqual([])
  ahead.begin()
  await ahead.end()
  expect(laid).toEqual(['coredns'])
})

test('what fails is left to whoever puts the addon there; whoever leaves early ends it', async () => {
  const broken = scene(async () => {
    throw new Error('broken')
  })
  broken.begin()
  await broken.end()
  let ended = false
  const slow = scene(
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
