import { expect, test } from 'vitest'
import { readCluster } from '../../spec/read-cluster.ts'
import { switched, switches } from './addon-switch.ts'

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

function clusterOf(written: string) {
  const { cluster, findings } = readCluster({ file: 'cluster.yml', text: written })
  if (cluster === undefined) throw new Error(JSON.stringify(findings))
  return cluster
}

const turn = (written: string, name: string, on: boolean): string =>
  switched(written, clusterOf(written), name, on)

test('one is switched off and on again, and the file is as it was', () => {
  const without = turn(text, 'traefik', false)
  expect(without).toContain('  ingress: none\n')
  expect(switches(clusterOf(without)).get('traefik')).toBe(false)
  expect(turn(without, 'traefik', true)).toBe(text)
  const off = turn(text, 'web', false)
  expect(switches(clusterOf(off)).get('web')).toBe(false)
  expect(turn(off, 'web', true)).toBe(text)
})

test('a value that is there is replaced, in whatever style it is written', () => {
  const written = text.replace('  addons:', '  ingress:\n    httpPort: 8080 # behind ours\n  addons:')
  expect(turn(written, 'traefik', false)).toContain('  ingress: none\n  addons:')
  const flow = text.replace(/  addons:[^]*/, '  addons: [{ name: web, files: [web.yml] }]\n')
  expect(switches(clusterOf(turn(flow, 'web', false))).get('web')).toBe(false)
})

test('one that is not there is not made', () => {
  expect(() => turn(text, 'treafik', true)).toThrow('there is no addon treafik')
})
