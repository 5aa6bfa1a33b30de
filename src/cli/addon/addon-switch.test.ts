import { expect, test } from 'vitest'
import { readCluster } from '../../spec/read-cluster.ts'
import { setAddonEnabled, listAddonSwitches } from './addon-switch.ts'

const text = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: "1.37.1" # as tested
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }
  addons:
    - name: web
      files: [web.yml] # ours
`

function parseCluster(source: string) {
  const { cluster, findings } = readCluster({ file: 'cluster.yml', text: source })
  if (cluster === undefined) throw new Error(JSON.stringify(findings))
  return cluster
}

const setEnabled = (source: string, name: string, on: boolean): string =>
  setAddonEnabled(source, parseCluster(source), name, on)

test('disabling and enabling an addon restores the original file', () => {
  const without = setEnabled(text, 'traefik', false)
  expect(without).toContain('  ingress: none\n')
  expect(listAddonSwitches(parseCluster(without)).get('traefik')).toBe(false)
  expect(setEnabled(without, 'traefik', true)).toBe(text)
  const off = setEnabled(text, 'web', false)
  expect(listAddonSwitches(parseCluster(off)).get('web')).toBe(false)
  expect(setEnabled(off, 'web', true)).toBe(text)
})

test('disabling an addon replaces its existing settings in block or flow style', () => {
  const source = text.replace('  addons:', '  ingress:\n    httpPort: 8080 # behind ours\n  addons:')
  expect(setEnabled(source, 'traefik', false)).toContain('  ingress: none\n  addons:')
  const flow = text.replace(/  addons:[^]*/, '  addons: [{ name: web, files: [web.yml] }]\n')
  expect(listAddonSwitches(parseCluster(setEnabled(flow, 'web', false))).get('web')).toBe(false)
})

test('enabling an unknown addon is refused', () => {
  expect(() => setEnabled(text, 'treafik', true)).toThrow('there is no addon treafik')
})

test('MetalLB can be disabled, and needs addresses to be enabled', () => {
  const source = text.replace('  addons:', '  loadBalancer: { addresses: [10.0.0.240/29] }\n  addons:')
  expect(listAddonSwitches(parseCluster(text)).get('metallb')).toBe(false)
  expect(listAddonSwitches(parseCluster(source)).get('metallb')).toBe(true)
  expect(setEnabled(source, 'metallb', false)).toContain('  loadBalancer: none\n  addons:')
  expect(() => setEnabled(text, 'metallb', true)).toThrow('metallb has no default addresses')
})
