import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { hyperkube } from '../in-memory.ts'

test('lists which controllers there are, and which are on', async () => {
  const { code, stdout } = await hyperkube('controller-manager list --controllers *,-version-skew')
  expect(code).toBe(0)
  expect(stdout).toMatchInlineSnapshot(`
    "CONTROLLER    ON  DEFAULT  WATCHES  MAY                                            WHAT IT DOES
    version-skew  no  on       nodes    get /version; create, patch events in default  says of nodes when their kubelet is of a version that does not go with the API server’s
    "
  `)
  const { stdout: json } = await hyperkube('controller-manager list -o json')
  expect(JSON.parse(json)).toMatchObject({
    kind: 'ControllerList',
    controllers: [{ name: 'version-skew', on: true, byDefault: true, watches: ['nodes'] }],
  })
})

test('says what each may do, as objects to apply', async () => {
  const { stdout } = await hyperkube('controller-manager rights')
  const { kind, items } = parse(stdout)
  expect(kind).toBe('List')
  expect(items).toContainEqual(
    expect.objectContaining({ kind: 'ClusterRole', metadata: { name: 'hyperkube:controller:version-skew' } }),
  )
})

test.each([
  ['', 'MANAGER_OPTIONS: --kubeconfig: '],
  ['--kubeconfig k', 'KUBECONFIG_NOT_READ: k cannot be read'],
  ['list --controllers foo', 'MANAGER_CONTROLLER_UNKNOWN: there is no controller foo'],
  ['list --listen 0.0.0.0:80', 'MANAGER_NOT_LOOPBACK: '],
  ['list --leader-elect-retry-period 2', 'MANAGER_OPTIONS: --leader-elect-retry-period: write it as'],
])('%j is told in one line', async (words, line) => {
  const { code, stderr } = await hyperkube(`controller-manager ${words}`.trim())
  expect(code).toBe(1)
  expect(stderr).toContain(line)
})
