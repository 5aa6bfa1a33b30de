import { expect, test } from 'vitest'
import { runHyperkube } from '../testing/run-in-memory.ts'

const cluster = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.36.4
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
`
const held = `${cluster}  heldUpgrade: { to: 1.37.1, since: "2026-11-17T20:00:00Z" }\n`

test.each([
  ['upgrade', cluster, 2, 'needs --to VERSION, confirm or rollback'],
  ['upgrade confirm --to 1.37.1', cluster, 2, 'needs --to VERSION, confirm or rollback'],
  ['upgrade rollback --hold', cluster, 2, 'needs --to VERSION, confirm or rollback'],
  ['upgrade rollback --rehearse', cluster, 2, '--rehearse needs --to VERSION'],
  ['upgrade --to 1.37.1 --hold --rehearse', cluster, 2, 'cannot be used with --hold'],
  ['upgrade --to 1.36.4 --rehearse', cluster, 0, 'there is nothing to rehearse'],
  ['upgrade undo', cluster, 2, 'confirm, rollback'],
  ['upgrade confirm', cluster, 1, 'UPGRADE_NOT_HELD'],
  ['upgrade rollback', cluster, 1, 'UPGRADE_NOT_HELD'],
  ['upgrade --to 1.36.5 --hold', cluster, 1, 'UPGRADE_HOLD_UNSUPPORTED'],
  ['upgrade --to 1.37.1', held, 1, 'hyperkube upgrade rollback'],
  ['upgrade --to 1.37.2 --hold', held, 1, 'UPGRADE_HELD'],
  ['upgrade --to 1.37.1 --hold', held, 1, 'LOCK_NOT_READ'],
])('%s ends with a reason, and nothing is written', async (words, file, code, message) => {
  const result = await runHyperkube(words, { 'cluster.yml': file })
  expect({ code: result.code, files: result.files }).toMatchObject({ code })
  expect(result.stderr).toContain(message)
  expect(result.files.get('cluster.yml')).toBe(file)
})

test('a held upgrade is shown by validate', async () => {
  const { stdout } = await runHyperkube('validate', { 'cluster.yml': held })
  expect(stdout).toContain('Kubernetes 1.36.4 (upgrade to 1.37.1 held)')
})
