import { array, assert, constantFrom, jsonValue, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readCluster } from './read-cluster.ts'

/** Checks that a text gives either a cluster or at least one error finding, and never an exception. */
function expectReadable(text: string): void {
  const { cluster, findings } = readCluster({ file: 'cluster.yml', text })
  const errors = findings.filter(({ severity }) => severity === 'error')
  expect(cluster === undefined).toBe(errors.length > 0)
  const lines = text.split(/\r\n|\n|\r/).length
  for (const { position } of findings) {
    expect(position?.line).toBeLessThanOrEqual(lines)
    expect(position?.line).toBeGreaterThanOrEqual(1)
  }
}

test('any text gives a cluster or an error finding', () => {
  assert(property(string({ unit: 'binary', maxLength: 300 }), expectReadable), { numRuns: 500 })
})

test('any text of YAML tokens gives a cluster or an error finding', () => {
  const piece = constantFrom(
    'a',
    ': ',
    '\n',
    '  ',
    '- ',
    '[',
    ']',
    '{',
    '}',
    '&x ',
    '*x',
    '"',
    "'",
    '#',
    '|\n',
    '!!map ',
    '<<: ',
    '? ',
    '%',
    '---\n',
    '...\n',
    '\t',
    '0',
    '~',
  )
  const text = array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''))
  assert(property(text, expectReadable), { numRuns: 2000 })
})

test('any YAML value gives a cluster or an error finding', () => {
  assert(
    property(jsonValue({ maxDepth: 5 }), (value) => expectReadable(stringify(value))),
    { numRuns: 500 },
  )
})

/** One value of a valid cluster is replaced, so that the test reaches every level of the schema. */
test('a valid cluster with any value replaced gives a cluster or an error finding', () => {
  const right = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Cluster',
    metadata: { name: 'x' },
    spec: {
      kubernetes: '1.37.1',
      hosts: [
        {
          name: 'a',
          address: '10.0.0.1',
          roles: ['control-plane'],
          labels: { a: 'b' },
          taints: [{ key: 'k', effect: 'NoSchedule' }],
        },
      ],
      network: { pods: '10.244.0.0/16', flannel: { vni: 1 } },
      components: { kubelet: { config: {}, args: { v: 2 } } },
      artifacts: { mirror: 'https://mirror.example' },
      dns: { forward: ['192.0.2.53'], tolerations: [{ key: 'k' }], resources: { limits: { cpu: '1' } } },
      ingress: { httpPort: 8080, patches: [{ kind: 'DaemonSet', name: 'traefik', patch: {} }] },
      storage: 'none',
      addons: [{ name: 'a', files: ['a.yml'], urls: [], inline: [{ kind: 'List' }], timeout: '5m' }],
    },
  }
  const paths = leaves(right)
  assert(
    property(constantFrom(...paths), jsonValue({ maxDepth: 2 }), (path, value) => {
      expectReadable(stringify(replaced(right, path, value)))
    }),
    { numRuns: 2000 },
  )
})

type Path = readonly (string | number)[]

function leaves(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const inner = Object.entries(value).flatMap(([key, child]) =>
    leaves(child, [...path, Array.isArray(value) ? Number(key) : key]),
  )
  return [path, ...inner]
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by
  if (Array.isArray(value))
    return value.map((child, index) => (index === key ? replaced(child, rest, by) : child))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, name === key ? replaced(child, rest, by) : child]),
  )
}
