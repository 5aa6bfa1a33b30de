import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const directory = 'examples/monitoring'

const rule = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.strictObject({ summary: z.string(), description: z.string() }),
})
const rules = z
  .strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule) })) })
  .parse(parse(read(`${directory}/alerts.yml`)))
  .groups.flatMap((group) => group.rules)
const dashboard = z
  .looseObject({
    panels: z.array(
      z.looseObject({ title: z.string(), targets: z.array(z.looseObject({ expr: z.string() })) }),
    ),
  })
  .parse(JSON.parse(read(`${directory}/dashboard.json`)))

const expressions = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
]

test('alerts and the dashboard use metrics that agents and proxies export', () => {
  const metricsSource = globSync('src/{agent/**/metrics,proxy/health-server}.ts', { cwd: root })
    .map(read)
    .join('')
  const requested = expressions.flatMap((text) => text.match(/\bhyperkube_[a-z_]+/g) ?? [])
  expect(requested.length).toBeGreaterThan(20)
  const names = [...new Set(requested)].map((name) =>
    name.replace(/^hyperkube_(?:agent|apiserver_proxy)_/, ''),
  )
  // The source composes some metric names from a prefix and a suffix, so only the suffix has to match.
  expect(names.filter((name) => !new RegExp(`[_']${name}[\`']`).test(metricsSource))).toEqual([])
})

test('every command that an alert names exists', () => {
  const commands = new Set(
    [...read('src/cli/command-table.ts').matchAll(/name: '([a-z-]+)'/g)].map(([, name]) => name),
  )
  const named = rules.flatMap(({ annotations }) => [
    ...annotations.description.matchAll(/\bhyperkube ([a-z-]+)/g),
  ])
  expect(named.map(([, name]) => name).filter((name) => !commands.has(name))).toEqual([])
})

test('the collector has valid documents, and listens on the loopback address only', () => {
  const documents = parseAllDocuments(read(`${directory}/scrape.yml`))
  const kinds = documents.map((document) => {
    expect(document.errors).toEqual([])
    return z.looseObject({ kind: z.string() }).parse(document.toJS()).kind
  })
  expect(kinds.filter((kind) => kind === 'DaemonSet')).toHaveLength(2)
  expect(kinds).not.toContain('Service')
  const addresses = [...read(`${directory}/scrape.yml`).matchAll(/listen-address=(\S+):\d+/g)]
  expect(addresses.map(([, address]) => address)).toEqual(['127.0.0.1', '127.0.0.1'])
})
