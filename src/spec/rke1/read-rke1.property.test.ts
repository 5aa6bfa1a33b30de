import {
  array,
  assert,
  constantFrom,
  dictionary,
  jsonValue,
  oneof,
  property,
  record,
  string,
} from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readRke1, rke1Rules } from './read-rke1.ts'
import { formatKeyReport } from './rule.ts'

/** Keys that RKE1 knows. Generated files contain them, unknown keys and arbitrary values. */
const known = [...new Set(rke1Rules.flatMap(({ pattern }) => pattern))].filter((name) => !/[[*]/.test(name))
const key = oneof(constantFrom(...known), string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 }))
  .map((name) => name.replaceAll(/[.[\]]/g, '-'))
  .filter((name) => name !== '__proto__')
const value = jsonValue({ maxDepth: 2 })
const inner = dictionary(key, value, { maxKeys: 5 })
const section = oneof(value, inner, dictionary(key, inner, { maxKeys: 4 }), array(inner, { maxLength: 3 }))
const top = constantFrom(...new Set(rke1Rules.map(({ pattern }) => pattern[0] ?? '')))
const file = record({
  any: dictionary(oneof(top, key), section, { maxKeys: 8 }),
  services: dictionary(key, dictionary(key, oneof(value, inner), { maxKeys: 4 }), { maxKeys: 4 }),
  nodes: array(inner, { minLength: 1, maxLength: 3 }),
}).map(({ any, ...rest }) => ({ ...any, ...rest }))

test('every leaf value is reported exactly once', () => {
  assert(
    property(file, (content) => {
      const { report } = readRke1({
        file: 'rke.yml',
        text: stringify(content, { aliasDuplicateObjects: false }),
      })
      const reported = new Set(report.map(({ path }) => path))
      expect(reported.size).toBe(report.length)
      for (const prefixes of leaves(content)) {
        expect(prefixes.filter((path) => reported.has(path))).toHaveLength(1)
      }
    }),
    { numRuns: 100 },
  )
})

const secret = 'q7Zx-hidden-Vw3'
const secretKey = constantFrom('password', 'ssh_key', 'secret_key', 'access_key', 'aws_secret_access_key')

test('no secret of an RKE1 file occurs in the cluster, the report or the findings', () => {
  const paths = [
    ['nodes', 0],
    ['nodes', 0, 'labels'],
    ['nodes', 0, 'taints', 0],
    ['bastion_host'],
    ['private_registries', 0],
    ['private_registries', 0, 'ecr_credential_plugin'],
    ['services', 'etcd', 'backup_config', 's3backupconfig'],
    ['services', 'kube-api', 'extra_args'],
    ['network', 'weave_network_provider'],
    ['network', 'options'],
    ['ingress', 'node_selector'],
    ['cloud_provider', 'awsCloudProvider'],
    [],
    ...rke1Rules.map(({ pattern }) => pattern.map((part) => (part === '[]' ? 0 : part === '*' ? 'x' : part))),
  ]
  assert(
    property(constantFrom(...paths), secretKey, oneof(value, constantFrom(secret)), (path, name, other) => {
      const nodes = [{ address: '192.0.2.1', role: ['controlplane', 'etcd'], extra: other }]
      const text = stringify({ nodes, ...nestedMap([...path, name], secret) })
      const { cluster, report, findings } = readRke1({ file: 'rke.yml', text })
      const shown = [
        stringify(cluster),
        ...report.map(formatKeyReport),
        JSON.stringify({ cluster, report, findings }),
      ]
      expect(shown.join('\n')).not.toContain(secret)
    }),
    { numRuns: 400 },
  )
})

/** Returns one list per leaf value: its own path and the paths of all its ancestors. */
function leaves(content: unknown, prefixes: readonly string[] = []): (readonly string[])[] {
  const entries = typeof content === 'object' && content !== null ? Object.entries(content) : []
  if (entries.length === 0) return [prefixes]
  return entries.flatMap(([name, child]) => {
    const before = prefixes.at(-1) ?? ''
    const here = Array.isArray(content) ? `${before}[${name}]` : `${before}.${name}`.replace(/^\./, '')
    return leaves(child, [...prefixes, here])
  })
}

function nestedMap([part, ...rest]: readonly (string | number)[], leaf: unknown): Record<string, unknown> {
  return { [String(part)]: nested(rest, leaf) }
}

function nested([part, ...rest]: readonly (string | number)[], leaf: unknown): unknown {
  if (part === undefined) return leaf
  return typeof part === 'number' ? [nested(rest, leaf)] : { [part]: nested(rest, leaf) }
}
