import { expect, test } from 'vitest'
import { checkAddons } from './check-addons.ts'
import { buildConfigMap } from './testing/manifests.ts'

const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j', namespace: 'default' } }

test('valid addons have no findings', () => {
  const cron = { ...job, kind: 'CronJob' }
  expect(
    checkAddons([
      { name: 'a', manifests: [buildConfigMap('a'), cron] },
      { name: 'b-1', manifests: [] },
    ]),
  ).toEqual([])
})

test('invalid names, Jobs and duplicate objects are all reported', () => {
  const found = checkAddons([
    { name: 'a', manifests: [buildConfigMap('a'), job] },
    { name: 'b', manifests: [{ ...buildConfigMap('a'), apiVersion: 'v1' }] },
    { name: 'No Name', manifests: [] },
    { name: 'x'.repeat(64), manifests: [] },
  ])
  expect(found.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    'ADDON_NAME: "No Name" is not a valid addon name',
    expect.stringContaining('ADDON_NAME'),
    'ADDON_JOB: addon a: Job default/j: an addon must not contain Jobs',
    'ADDON_OBJECT_DUPLICATE: ConfigMap kube-system/a is in 2 manifests, of addon a and b',
  ])
})
