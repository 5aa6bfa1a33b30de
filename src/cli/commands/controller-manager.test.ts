import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { runHyperkube } from '../testing/run-in-memory.ts'

test('controller-manager list shows all controllers and which are enabled', async () => {
  const { code, stdout } = await runHyperkube('controller-manager list -o wide --controllers *,-version-skew')
  expect(code).toBe(0)
  const [head, first, ...others] = stdout.split('\n').map((line) => line.replaceAll(/  +/g, '  '))
  expect(head).toBe('CONTROLLER  ON  DEFAULT  WATCHES  DESCRIPTION  PERMISSIONS')
  expect(first).toBe(
    'version-skew  no  on  nodes  reports nodes whose kubelet version is not supported by the API server  get /version; create, patch events in default',
  )
  expect(others.join('\n')).toMatch(
    /^disk-cordoner  no  off  nodes, hosts  .*  get, patch nodes; create, patch events in default$/m,
  )
  const { stdout: short } = await runHyperkube('controller-manager list')
  expect(short).toMatch(
    /^CONTROLLER +ON +DEFAULT +DESCRIPTION\nversion-skew +yes +on +reports nodes whose kubelet/,
  )
  const { stdout: json } = await runHyperkube('controller-manager list -o json')
  expect(JSON.parse(json)).toMatchObject({
    kind: 'ControllerList',
    controllers: expect.arrayContaining([
      expect.objectContaining({ name: 'version-skew', on: true, byDefault: true, watches: ['nodes'] }),
      expect.objectContaining({ name: 'addon-reconciler', on: false, byDefault: false }),
    ]),
  })
})

test('controller-manager rbac prints the RBAC objects of each controller', async () => {
  const { stdout } = await runHyperkube('controller-manager rbac')
  const { kind, items } = parse(stdout)
  expect(kind).toBe('List')
  expect(items).toContainEqual(
    expect.objectContaining({ kind: 'ClusterRole', metadata: { name: 'hyperkube:controller:version-skew' } }),
  )
})

test.each([
  ['', 'MANAGER_OPTIONS: --kubeconfig: is required'],
  ['--kubeconfig k', 'KUBECONFIG_NOT_READ: k cannot be read'],
  ['list --controllers foo', 'MANAGER_CONTROLLER_UNKNOWN: there is no controller foo'],
  ['list --listen 0.0.0.0:80', 'MANAGER_NOT_LOOPBACK: '],
  [
    'list --leader-elect-retry-period 2',
    'MANAGER_OPTIONS: --leader-elect-retry-period: must be a duration such as',
  ],
])('invalid arguments %j are reported in one line', async (words, line) => {
  const { code, stderr } = await runHyperkube(`controller-manager ${words}`.trim())
  expect(code).toBe(1)
  expect(stderr).toContain(line)
})
