import { expect, test } from 'vitest'
import { parseAddonCluster } from '../testing/addon-input.ts'
import { readUserAddons } from './user-addons.ts'

function readAddons(addons: string, texts: Readonly<Record<string, string>> = {}) {
  const { spec } = parseAddonCluster(`  addons:\n${addons}`)
  return readUserAddons(spec.addons, { sources: new Map(Object.entries(texts)), charts: new Map() })
}

/** Formats findings as the command line prints them. */
function formatFindings({ findings }: ReturnType<typeof readAddons>): string[] {
  return findings.map(({ code, message, position, path }) => {
    const where = position === undefined ? '' : `${position.file}:${position.line}:${position.column} `
    return `${where}${path} ${code}: ${message}`
  })
}

function names({ addons }: ReturnType<typeof readAddons>): string[] {
  return addons.flatMap(({ manifests }) =>
    manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? '-'}/${metadata.name}`),
  )
}

const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\n`

test('manifests are read from files, directories, URLs, inline text and inline objects, in this order', () => {
  const found = readAddons(
    `    - name: shop
      files: [z.yml, ./manifests/]
      urls: [{ url: "https://example.com/u.yml", sha256: ${'a'.repeat(64)} }]
      inline: |
        apiVersion: v1
        kind: Namespace
        metadata: { name: text }
    - name: list
      inline: [{ apiVersion: v1, kind: Secret, metadata: { name: object } }]
    - { name: "off", enabled: false, files: [missing.yml] }
`,
    {
      'z.yml': `${configMap('z1')}---\n# nothing\n---\n${configMap('z2')}`,
      'manifests/b.json': JSON.stringify({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'b' } }),
      'manifests/a.yaml': configMap('a'),
      'manifests/notes.txt': 'no manifest',
      'manifests/deeper/c.yml': configMap('c'),
      'https://example.com/u.yml': configMap('u'),
    },
  )
  expect(formatFindings(found)).toEqual([])
  expect(names(found)).toEqual([
    'ConfigMap default/z1',
    'ConfigMap default/z2',
    'ConfigMap default/a',
    'Service default/b',
    'ConfigMap default/u',
    'Namespace -/text',
    'Secret default/object',
  ])
})

test('a List is replaced by its items', () => {
  const list = `apiVersion: v1\nkind: List\nitems:\n  - ${configMap('a').replaceAll('\n', '\n    ')}\n  - kind: ConfigMap\n`
  const found = readAddons('    - { name: shop, files: [a.yml] }\n', { 'a.yml': list })
  expect(names(found)).toEqual(['ConfigMap default/a'])
  expect(formatFindings(found)).toEqual([
    'a.yml:8:5 spec.addons[0].files[0] ADDON_SOURCE_NOT_MANIFEST: apiVersion is missing',
  ])
})

test('all problems are reported at once, each with its position', () => {
  const aliasBomb =
    'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c]\n'
  const found = readAddons(
    `    - { name: shop, files: [gone.yml, broken.yml, empty.yml, laugh.yml, wrong.yml] }
    - { name: text, inline: "kind: ConfigMap" }
    - { name: list, inline: [{ apiVersion: v1, kind: ConfigMap, metadata: { generateName: x } }] }
`,
    {
      'broken.yml': 'a: [b\n',
      'empty.yml': '# later\n',
      'laugh.yml': aliasBomb,
      'wrong.yml': `${configMap('a')}---\napiVersion: v1\nkind: 7\nmetadata: { name: a }\n---\nhello\n`,
    },
  )
  expect(formatFindings(found)).toMatchInlineSnapshot(`
    [
      "spec.addons[0].files[0] ADDON_SOURCE_MISSING: addon shop: gone.yml is neither a file nor a directory with manifests",
      "broken.yml:2:1 spec.addons[0].files[1] ADDON_SOURCE_NOT_YAML: Flow sequence in block collection must be sufficiently indented and end with a ]",
      "empty.yml:1:1 spec.addons[0].files[2] ADDON_SOURCE_EMPTY: it contains no manifest",
      "laugh.yml:1:1 spec.addons[0].files[3] ADDON_SOURCE_NOT_YAML: it uses too many YAML aliases",
      "wrong.yml:6:7 spec.addons[0].files[4] ADDON_SOURCE_NOT_MANIFEST: kind must be text",
      "wrong.yml:9:1 spec.addons[0].files[4] ADDON_SOURCE_NOT_MANIFEST: it is not a map",
      "spec.addons[1].inline ADDON_SOURCE_NOT_MANIFEST: line 1: apiVersion is missing",
      "spec.addons[2].inline[0] ADDON_SOURCE_NOT_MANIFEST: not a manifest: metadata.name is missing",
    ]
  `)
})

test('a missing namespace is set for kinds that are known to be namespaced', () => {
  const text = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.org }
spec: { group: example.org, scope: Namespaced, names: { kind: Widget } }
---
apiVersion: example.org/v1
kind: Widget
metadata: { name: known }
---
apiVersion: example.com/v1
kind: Gadget
metadata: { name: unknown }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: role }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop }
`
  expect(names(readAddons('    - { name: shop, files: [a.yml] }\n', { 'a.yml': text }))).toEqual([
    'CustomResourceDefinition -/widgets.example.org',
    'Widget default/known',
    'Gadget -/unknown',
    'ClusterRole -/role',
    'Deployment shop/web',
  ])
})

test('YAML scalars are read as kubectl reads them', () => {
  const text = `${configMap('a')}mode: 0644
on: yes
time: 2026-01-01
ratio: 12:30
plain: 17
base: &base { a: 1 }
merged: { <<: *base, b: 2 }
`
  const { addons } = readAddons('    - { name: shop, files: [a.yml] }\n', { 'a.yml': text })
  expect(addons[0]?.manifests[0]).toMatchObject({
    mode: 0o644,
    true: true,
    time: '2026-01-01',
    ratio: '12:30',
    plain: 17,
    merged: { a: 1, b: 2 },
  })
})
