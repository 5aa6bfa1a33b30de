import { expect, test } from 'vitest'
import { parseKeyFile } from '../../identity/sealing-key.ts'
import { unsealIdentity } from '../../identity/seal.ts'
import { runHyperkube, type CliResult } from '../testing/run-in-memory.ts'

const key = '/home/me/.config/hyperkube/keys/shop.key'
const first = 'init --name shop --host root@10.0.0.1=control-plane --host 10.0.0.2=worker'
const byHand = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
`

function withoutFiles(files: CliResult['files'], ...without: string[]): Record<string, string> {
  return Object.fromEntries([...files].filter(([path]) => !without.includes(path)))
}

test('init creates a valid cluster.yml, an identity and the key that decrypts it', async () => {
  const { code, stdout, files } = await runHyperkube(first)
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${key}\ncluster.identity\ncluster.yml\n` })
  expect(files.get('cluster.yml')).toMatchInlineSnapshot(`
    "# A Kubernetes cluster that hyperkube manages. Commit this file.
    # Check this file:       hyperkube validate
    # Set up your editor:    hyperkube schema --help
    # List of all settings:  docs/reference/cluster.md in the hyperkube repository
    apiVersion: hyperkube.dev/v1
    kind: Cluster
    metadata:
      name: shop
    spec:
      kubernetes: 1.37.1
      hosts:
        - name: cp1
          address: 10.0.0.1
          roles:
            - control-plane
          ssh:
            user: root
        - name: w1
          address: 10.0.0.2
          roles:
            - worker
    "
  `)
  expect(await runHyperkube('validate', withoutFiles(files))).toMatchObject({
    code: 0,
    stdout: 'cluster.yml: shop is valid: Kubernetes 1.37.1 on 2 hosts, 1 control plane\n',
  })
  const identity = await unsealIdentity(
    files.get('cluster.identity') ?? '',
    parseKeyFile(files.get(key) ?? ''),
  )
  expect(identity).toMatchObject({ metadata: { name: 'shop' }, created: '2026-11-15T12:00:00.000Z' })
})

test('init prints what to commit and what to back up, and never a secret', async () => {
  const { stdout, stderr, files } = await runHyperkube(first)
  expect(stderr).toMatchInlineSnapshot(`
    "commit cluster.yml and cluster.identity; also commit cluster.lock, which hyperkube up creates
    do not commit the key, and keep a backup of it on another machine:
      /home/me/.config/hyperkube/keys/shop.key
      without the key, hyperkube cannot change, repair or rotate the cluster; pods keep running
      the key and cluster.identity together give full access to the cluster and its secrets
      → to preview the changes (optional): hyperkube plan
      → to create or update the cluster: hyperkube up
    "
  `)
  const { cas } = await unsealIdentity(
    files.get('cluster.identity') ?? '',
    parseKeyFile(files.get(key) ?? ''),
  )
  const secrets = [
    files.get(key)?.split('\n')[1],
    ...Object.values(cas).map(({ privateKey }) => privateKey.revealText().split('\n')[1]),
  ]
  for (const secret of secrets) {
    expect(secret).toMatch(/^[A-Za-z0-9+/=]{32,}$/)
    expect(
      [stdout, stderr, files.get('cluster.yml'), files.get('cluster.identity')].join('\n'),
    ).not.toContain(secret)
  }
})

test('-o json prints a list of the created files', async () => {
  const { stdout } = await runHyperkube(`${first} -o json`)
  expect(JSON.parse(stdout)).toEqual({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'FileList',
    items: [key, 'cluster.identity', 'cluster.yml'],
  })
})

test('identity and lock are named after the file of -f, and hints repeat -f and --key', async () => {
  const { stdout, stderr } = await runHyperkube(`${first} -f a/prod.yaml --key my.key`, { 'a/other': '' })
  expect(stdout).toBe('my.key\na/prod.identity\na/prod.yaml\n')
  expect(stderr).toContain(
    'commit a/prod.yaml and a/prod.identity; also commit a/prod.lock, which hyperkube up creates\n',
  )
  expect(stderr).toContain('hyperkube plan -f a/prod.yaml --key my.key\n')
  expect(stderr).toContain('hyperkube up -f a/prod.yaml --key my.key\n')
  expect(stderr).not.toContain('.gitignore')
  const beside = await runHyperkube(`${first} --key shop.key`)
  expect(beside.stderr).toContain(
    'warning: shop.key is in the directory of cluster.yml; add it to .gitignore',
  )
})

test('init writes nothing if existing files or flags conflict', async () => {
  const other = await runHyperkube('init --host 10.0.0.1=control-plane')
  const identity = other.files.get('cluster.identity') ?? ''
  const cases: [string, Record<string, string>, string][] = [
    [first, { 'cluster.yml': 'mine' }, 'SPEC_NOT_WRITTEN: cluster.yml already exists'],
    ['init --defaults', { 'cluster.yml': 'mine' }, 'SPEC_NOT_WRITTEN: cluster.yml already exists'],
    ['init --name shop', { 'cluster.yml': byHand }, 'SPEC_NOT_WRITTEN: cluster.yml already exists'],
    [
      first,
      { [key]: 'mine' },
      `IDENTITY_KEY_EXISTS: ${key} already exists: it is the key of another cluster`,
    ],
    ['init', { 'cluster.yml': byHand, [key]: 'mine' }, 'IDENTITY_KEY_EXISTS'],
    [
      `${first} --key notes`,
      { notes: 'hello, world' },
      'IDENTITY_KEY_NOT_READ: the key file has an invalid format',
    ],
    [first, { 'cluster.identity': identity }, `IDENTITY_KEY_NOT_READ: ${key} does not exist`],
    [
      `${first} --key /home/me/.config/hyperkube/keys/cluster.key`,
      withoutFiles(other.files, 'cluster.yml'),
      'IDENTITY_MISMATCH: cluster.identity belongs to the cluster cluster, not to shop',
    ],
    [`${first} -f nowhere/cluster.yml`, {}, 'SPEC_NOT_WRITTEN: the directory of nowhere/cluster.yml'],
    ['init --host 10.0.0.1=worker', {}, 'SPEC_NO_CONTROL_PLANE'],
    ['init', { 'cluster.yml': byHand.replace('control-plane', 'worker') }, 'SPEC_NO_CONTROL_PLANE'],
  ]
  for (const [words, files, message] of cases) {
    const ran = await runHyperkube(words, files)
    expect(ran, message).toMatchObject({ code: 1, stdout: '', files: new Map(Object.entries(files)) })
    expect(ran.stderr).toContain(message)
  }
})

test('init uses an existing key that --key names', async () => {
  const { files } = await runHyperkube(first)
  const again = await runHyperkube(
    `${first} --key ${key}`,
    withoutFiles(files, 'cluster.yml', 'cluster.identity'),
  )
  expect(again).toMatchObject({ code: 0, stdout: 'cluster.identity\ncluster.yml\n' })
  expect(again.files.get(key)).toBe(files.get(key))
  const identity = await unsealIdentity(
    again.files.get('cluster.identity') ?? '',
    parseKeyFile(files.get(key) ?? ''),
  )
  expect(identity.metadata.name).toBe('shop')
})

test('after an interrupt before the last file, the same command completes init', async () => {
  const { files } = await runHyperkube(first)
  const again = await runHyperkube(first, withoutFiles(files, 'cluster.yml'))
  expect(again).toMatchObject({ code: 0, stdout: 'cluster.yml\n', files })
})

test('init creates an identity for an existing cluster.yml', async () => {
  const { code, stdout, stderr, files } = await runHyperkube('init', { 'cluster.yml': byHand })
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${key}\ncluster.identity\n` })
  expect(stderr).toContain(
    'cluster.identity is for a new cluster; a running cluster needs its own identity file\n',
  )
  expect(files.get('cluster.yml')).toBe(byHand)
})

test('init with complete files changes nothing and prints the next commands', async () => {
  const { files } = await runHyperkube(first)
  const again = await runHyperkube('init', withoutFiles(files))
  expect(again).toMatchObject({ code: 0, stdout: '', files })
  expect(again.stderr).toContain(
    `nothing to do: cluster.yml exists, and ${key} decrypts cluster.identity\n  → to preview the changes (optional): hyperkube plan\n  → to create or update the cluster: hyperkube up\n`,
  )
})

test.each(['init', 'init --name shop', 'init --yes', 'init --no-input'])(
  'without a terminal, %s lists the flags to use',
  async (words) => {
    const options = words.includes('--') && !words.includes('--name') ? { replies: ['shop'] } : {}
    const ran = await runHyperkube(words, {}, options)
    expect(ran).toMatchObject({ code: 2, stdout: '', prompts: [], files: new Map() })
    expect(ran.stderr).toBe(
      'USAGE: without a terminal, flags must set the hosts of the cluster\n' +
        '  → --host root@192.168.1.11=control-plane for each machine, --from-rke FILE, or --defaults\n',
    )
  },
)

test('an invalid cluster name is a usage error, and no file is written', async () => {
  expect(await runHyperkube('init --name ../../x --defaults')).toMatchObject({ code: 2, files: new Map() })
})

test('an interrupt while the identity is created leaves no files', async () => {
  const ran = await runHyperkube(first, {}, { signal: AbortSignal.abort() })
  expect(ran).toMatchObject({ code: 130, stdout: '', files: new Map() })
})

test('--from-rke converts an RKE1 file and reports every key', async () => {
  const old = `nodes:
  - address: 10.0.0.1
    user: root
    role: [controlplane, etcd]
    docker_socket: /var/run/docker.sock
    hostnam_override: a
network:
  plugin: canal
private_registries:
  - url: registry.example
    password: hunter2
`
  const { code, stdout, stderr, files } = await runHyperkube('init --from-rke rke.yml', { 'rke.yml': old })
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: '/home/me/.config/hyperkube/keys/local.key\ncluster.identity\ncluster.yml\n',
  })
  expect(stderr).toMatchInlineSnapshot(`
    "mapped: converted to a setting of the new file
      rke.yml:2:5 nodes[0].address -> spec.hosts[0].address
      rke.yml:3:5 nodes[0].user -> spec.hosts[0].ssh.user
      rke.yml:4:5 nodes[0].role -> spec.hosts[0].roles
      rke.yml:10:5 private_registries[0].url -> spec.registries[0].host

    dropped: hyperkube does not need this setting
      rke.yml:5:5 nodes[0].docker_socket -> hyperkube runs containerd, without Docker

    unsupported: needs your decision
      rke.yml:8:3 network.plugin -> replaced by flannel and kube-router, which enforces NetworkPolicy but no policies of other plugins; for your own plugin set network.plugin to none
      rke.yml:11:5 private_registries[0].password -> passwords are never copied; change it, then store it: hyperkube secret set registry-example

    unknown: not an RKE1 key
      rke.yml:6:5 nodes[0].hostnam_override -> RKE1 has no such key and ignored it; did you mean hostname_override?

    4 mapped, 1 dropped, 2 unsupported, 1 unknown
    commit cluster.yml and cluster.identity; also commit cluster.lock, which hyperkube up creates
    do not commit the key, and keep a backup of it on another machine:
      /home/me/.config/hyperkube/keys/local.key
      without the key, hyperkube cannot change, repair or rotate the cluster; pods keep running
      the key and cluster.identity together give full access to the cluster and its secrets
      → to preview the changes (optional): hyperkube plan
      → to create or update the cluster: hyperkube up
    "
  `)
  expect(files.get('cluster.yml')).not.toContain('hunter2')
  expect((await runHyperkube('validate', Object.fromEntries(files))).code).toBe(0)
})

test('--from-rke with an invalid file or conflicting flags writes nothing', async () => {
  const old = { 'rke.yml': 'nodes: []\n' }
  const empty = await runHyperkube('init --from-rke rke.yml', old)
  expect(empty).toMatchObject({ code: 1, stdout: '' })
  expect(empty.stderr).toContain('rke.yml:1:1: error RKE1_NO_NODES')
  expect(empty.files.size).toBe(1)
  expect((await runHyperkube('init --from-rke nowhere.yml')).stderr).toContain('nowhere.yml does not exist')
  expect(await runHyperkube('init --from-rke rke.yml --name shop', old)).toMatchObject({
    code: 2,
    stdout: '',
  })
  const same = await runHyperkube('init --from-rke cluster.yml', {
    'cluster.yml': 'nodes: [{ address: a, role: [controlplane] }]',
  })
  expect(same.code).toBe(1)
  expect(same.stderr).toContain('SPEC_NOT_WRITTEN')
})
