import { expect, test } from 'vitest'
import { z } from 'zod'
import { listDefaultReleases } from '../catalog/catalog.ts'
import { shippedCatalog } from '../catalog/shipped-catalog.ts'
import { newestKubernetes, oldestKubernetes } from '../spec/scalars.ts'
import { runHyperkube } from './testing/run-in-memory.ts'

test('hyperkube without arguments prints a summary and all commands', async () => {
  const { code, stdout } = await runHyperkube('')
  expect(code).toBe(0)
  expect(stdout).toMatchInlineSnapshot(`
    "Installs Kubernetes on a list of machines and manages its whole life cycle.

      hyperkube init --host root@192.168.1.11=control-plane --host root@192.168.1.21=worker
      hyperkube up

    Commands:
      init            Create cluster.yml and the keys of the cluster
      adopt           Adopt a running kubeadm or RKE1 cluster
      validate        Check cluster.yml
      catalog         List supported versions, or use a newer signed catalog
      lock            Pin versions and checksums in cluster.lock
      images          List the container images that the cluster needs
      bundle          Create or verify an air-gap bundle
      plan            Preview changes
      up              Create or update the cluster
      provisional     Confirm or roll back a provisional change
      upgrade         Upgrade Kubernetes
      status          Show the health of the cluster
      fleet           Show and change many clusters, in waves
      ui              Show clusters in the browser of this machine
      doctor          Diagnose problems and suggest fixes
      explain         Explain the code of an error or a finding
      logs            Show component logs of all hosts
      runs            List recorded runs and show their timelines
      support-bundle  Collect a support bundle without secrets
      heal            Inspect, pause or resume self-healing
      addon           List, compare, enable or disable addons
      node            Add, remove, replace, drain or uncordon nodes
      etcd            Inspect, back up, restore and recover etcd
      certs           List and renew certificates, rotate CAs and keys
      secret          Manage secrets that cluster.yml refers to
      eject           Write what kubeadm needs to manage the cluster without hyperkube
      reset           Remove the cluster from its hosts
      kubeconfig      Print a kubeconfig for an administrator (valid 24h)
      kubectl         Run the kubectl of cluster.lock against the cluster, through SSH
      proxy           Run a local load balancer for the API
      conformance     Run the upstream conformance tests
      schema          Print the JSON Schema of cluster.yml or fleet.yml
      completion      Print a completion script for your shell
      version         Print the version of hyperkube

    hyperkube COMMAND --help explains a command.
    "
  `)
})

test.each(['--help', 'help', '-h'])('%s prints the same as hyperkube without arguments', async (words) => {
  expect((await runHyperkube(words)).stdout).toBe((await runHyperkube('')).stdout)
})

test('help of a command starts with examples', async () => {
  const { code, stdout } = await runHyperkube('help validate')
  expect(code).toBe(0)
  expect(stdout).toMatchInlineSnapshot(`
    "  hyperkube validate                            # check cluster.yml in this directory
      hyperkube validate -f production.yml -o json  # check another file and print JSON

    Usage: hyperkube validate [options]

    Check cluster.yml.

    Options:
      -f, --file <path>      path of cluster.yml (default: HYPERKUBE_FILE, or
                             cluster.yml here or in a parent directory)
      -o, --output <format>  output format (choices: "table", "wide", "json",
                             "yaml", default: "table")
      --timeout <duration>   abort after this duration: 30s, 5m, 1h30m (default:
                             none)
      -v, --verbose          print every event of hosts, one per line
      -q, --quiet            print no progress, only results, warnings and errors
      --debug                print stack traces of unexpected errors
      -h, --help             print this help
    "
  `)
})

test('validate prints findings to stdout as text and as JSON', async () => {
  const files = { 'cluster.yml': 'apiVersion: hyperkube.dev/v1\nkind: Clutser\n' }
  const people = await runHyperkube('validate', files)
  expect(people.code).toBe(1)
  expect(people.stdout).toContain(
    'cluster.yml:2:7: error SPEC_WRONG_VALUE: kind must be Cluster\n  → did you mean Cluster?\n',
  )
  const programs = await runHyperkube('-o json validate', files)
  expect(JSON.parse(programs.stdout)).toMatchObject({ apiVersion: 'hyperkube.dev/v1', kind: 'FindingList' })
})

test('a missing cluster.yml is one error with a hint', async () => {
  const { code, stdout, stderr } = await runHyperkube('validate -f nowhere.yml')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toBe(
    'SPEC_NOT_READ: nowhere.yml does not exist\n  → run the command in the directory of cluster.yml, or add -f FILE; for a new cluster: hyperkube init\n',
  )
})

test('an unknown command is a usage error with a suggestion, and an unknown flag is refused', async () => {
  expect(await runHyperkube('validte')).toMatchObject({
    code: 2,
    stderr: 'USAGE: there is no command validte\n  → did you mean hyperkube validate?\n',
  })
  expect(await runHyperkube('validate --flie x')).toMatchObject({ code: 2, stdout: '' })
  expect((await runHyperkube('\u001B[2J')).stderr).not.toContain('\u001B')
})

test('a symbolic link named after a command runs that command', async () => {
  expect((await runHyperkube('', {}, { programPath: '/usr/local/bin/version' })).stdout).toBe(
    (await runHyperkube('version')).stdout,
  )
})

test('schema prints a JSON Schema with the settings of hosts', async () => {
  expect(JSON.parse((await runHyperkube('schema')).stdout)).toHaveProperty('$defs.Host.properties.address')
})

test('an unknown version or flag is reported with its position', async () => {
  const text = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: x }
spec:
  kubernetes: 1.37.1
  hosts:
    - name: a
      address: 10.0.0.1
      roles: [control-plane]
      components:
        kubelet:
          args: { pod-infra-container-image: x }
  components:
    etcd:
      args: { experimental-initial-corrupt-check: true }
`
  const flags = await runHyperkube('validate', { 'cluster.yml': text })
  expect(flags.code).toBe(1)
  expect(flags.stdout).toContain(
    'cluster.yml:12:46: error FLAG_REMOVED: spec.hosts[0].components.kubelet.args',
  )
  expect(flags.stdout).toContain('cluster.yml:15:51: error FLAG_REMOVED: spec.components.etcd.args')
  const version = await runHyperkube('validate', { 'cluster.yml': text.replace('1.37.1', '1.20.0') })
  expect(version.stdout).toContain('cluster.yml:5:15: error CATALOG_UNKNOWN_VERSION: spec.kubernetes')
  expect(version.stdout).toContain(
    '→ set spec.kubernetes to a version of these minors, for example 1.32.5 or 1.33.13 or 1.34.10',
  )
})

test('the version that init writes is the newest of the catalog', () => {
  expect(listDefaultReleases(shippedCatalog)[0]?.kubernetes).toBe(newestKubernetes)
  expect(listDefaultReleases(shippedCatalog).at(-1)?.kubernetes.startsWith(`${oldestKubernetes}.`)).toBe(true)
})

test('--version prints the version, also as JSON', async () => {
  const { stdout } = await runHyperkube('version')
  expect(await runHyperkube('--version')).toMatchObject({ code: 0, stdout, stderr: '' })
  expect(JSON.parse((await runHyperkube('--version -o json')).stdout)).toMatchObject({ kind: 'Version' })
})

test.each([
  ['apply', 'hyperkube up'],
  ['delete', 'hyperkube reset'],
  ['kubelet', 'hyperkube logs kubelet'],
])('%s, a command of another tool, is a usage error that suggests %s', async (name, hint) => {
  const { code, stderr } = await runHyperkube(name)
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(hint) })
})

test('a symbolic link with the name of a component is a usage error with a hint', async () => {
  const { code, stderr } = await runHyperkube('--v=2', {}, { programPath: '/usr/bin/kube-apiserver' })
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('hyperkube up installs it') })
})

test('a command of an operator interprets schemas instead of generating parsers', async () => {
  z.config({ jitless: false })
  await runHyperkube('schema')
  expect(z.config().jitless).toBe(true)
})

test('a service generates parsers, because it runs for a long time', async () => {
  z.config({ jitless: false })
  await runHyperkube('agent --help')
  expect(z.config().jitless).toBe(false)
})
