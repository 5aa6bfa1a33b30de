import { expect, test } from 'vitest'
import { buildTestCluster } from './testing/fixtures.ts'
import { planRegistryHosts } from './registry-hosts.ts'

const cluster = buildTestCluster('{ name: cp1, address: 10.0.0.1, roles: [control-plane] }')
const plain = { mirrors: [], skipVerify: false }

/** Renders hosts.toml of registry.k8s.io, whose mirror has an entry of its own. */
function renderMirror(mirror: string, host: string): string {
  const registries = [
    { ...plain, host: 'registry.k8s.io', mirrors: [mirror] },
    { ...plain, host, ca: 'mirror-ca.pem' },
  ]
  const files = planRegistryHosts(
    { cluster: { ...cluster, spec: { ...cluster.spec, registries } }, attachments: new Map() },
    { owner: 'root', at: (...parts) => parts.join('/') },
  )
  const content = files.find(({ path }) => path === 'certs.d/registry.k8s.io/hosts.toml')?.content
  return content?.kind === 'text' ? content.text : ''
}

test.each([
  ['https://mirror.example:5000', 'mirror.example:5000', 'mirror.example_5000_'],
  ['https://mirror.example', 'mirror.example', 'mirror.example'],
  ['https://mirror.example:443', 'mirror.example:443', 'mirror.example_443_'],
  ['https://mirror.example', 'mirror.example:443', 'mirror.example_443_'],
  ['https://[fd00::5]:5000', '[fd00::5]:5000', '[fd00::5]_5000_'],
])('the mirror %s is trusted with the CA of the entry %s', (mirror, host, directory) => {
  expect(renderMirror(mirror, host)).toBe(
    `[host."${mirror}"]\n  capabilities = ["pull", "resolve"]\n  ca = "certs.d/${directory}/ca.pem"\n`,
  )
})

test('a mirror without an entry gets no CA of another one', () => {
  expect(renderMirror('https://mirror.example:5000', 'mirror.example')).not.toContain('ca =')
})
