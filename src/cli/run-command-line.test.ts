import { expect, test } from 'vitest'
import { kubernetesReleases } from '../catalog/catalog.ts'
import { newestKubernetes, oldestKubernetes } from '../spec/scalars.ts'
import { runHyperkube } from './testing/run-in-memory.ts'

test('alone it says what it is, and how to begin', async () => {
  const { code, stdout } = await runHyperkube('')
  expect(code).toBe(0)
  expect(stdout).toMatchInlineSnapshot(`
    "Turns a list of machines into a Kubernetes cluster, and carries it through its whole life.

      hyperkube init --host root@192.168.1.11=control-plane --host root@192.168.1.21=worker
      hyperkube validate

    Commands:
      init            write a first cluster.yml, and make the cluster’s identity
      validate        say all that is wrong with a cluster.yml, each at its place
      lock            pin every file that the cluster is made of, by its digest
      images          every image that the cluster needs, and what for
      bundle          put all files and images into one, for hosts without internet access; verify it
      plan            say what would be done on each host, and in which order; do nothing
      up              make the hosts a cluster, or bring it to what cluster.yml says now
      provisional     end a change of up --provisional: confirm, rollback
      upgrade         bring the cluster to another version of Kubernetes
      status          how every host and every part of the cluster is
      doctor          say what is wrong, what it comes of, and what to type
      logs            what components say, on all hosts, in one order
      support-bundle  put all that helps to find a fault into one file, without secrets
      heal            what agents heal by themselves: status, pause, resume
      addon           what is kept inside the cluster: list, diff, show, enable, disable
      node            hosts come and go: add, remove, replace, drain, uncordon
      etcd            status of etcd and its members; snapshots: save, fetch, verify, restore
      certs           certificates and keys: list, renew, rotate-ca, rotate-key
      secret          what cluster.yml refers to by name, such as passwords: set, list, remove
      reset           take everything of the cluster off its hosts
      kubeconfig      print what kubectl needs to be an administrator, for a day
      proxy           serve the API on this machine, through the healthy control planes
      conformance     run upstream’s own conformance tests against the cluster
      schema          print the JSON Schema of cluster.yml, for editors
      completion      print a script that completes commands in your shell
      version         say which hyperkube this is

    hyperkube COMMAND --help explains a command.
    "
  `)
})

test.each(['--help', 'help', '-h'])('%s is the same', async (words) => {
  expect((await runHyperkube(words)).stdout).toBe((await runHyperkube('')).stdout)
})

test('help of a command starts with examples', async () => {
  const { code, stdout } = await runHyperkube('help validate')
  expect(code).toBe(0)
  expect(stdout).toMatchInlineSnapshot(`
    "  hyperkube validate                            # cluster.yml in this directory
      hyperkube validate -f production.yml -o json  # another one, for a program to read

    Usage: hyperkube validate [options]

    say all that is wrong with a cluster.yml, each at its place

    Options:
      -f, --file <path>      the cluster’s file (default: "cluster.yml")
      -o, --output <format>  how to print results (choices: "table", "wide", "json",
                             "yaml", default: "table")
      --no-input             never ask; fail instead
      -y, --yes              answer every question with yes
      --timeout <duration>   give up after so long: 30s, 5m, 1h30m
      --debug                show where an unexpected error came from
      -h, --help             display help for command
    "
  `)
})

test('findings go to stdout, for people and for programs', async () => {
  const files = { 'cluster.yml': 'apiVersion: hyperkube.dev/v1\nkind: Clutser\n' }
  const people = await runHyperkube('validate', files)
  expect(people.code).toBe(1)
  expect(people.stdout).toContain(
    'cluster.yml:2:7: error SPEC_WRONG_VALUE: kind must be Cluster\n  → did you mean Cluster?\n',
  )
  const programs = await runHyperkube('-o json validate', files)
  expect(JSON.parse(programs.stdout)).toMatchObject({ apiVersion: 'hyperkube.dev/v1', kind: 'FindingList' })
})

test('a file that is not there is one clear message', async () => {
  const { code, stdout, stderr } = await runHyperkube('validate -f nowhere.yml')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toBe(
    'SPEC_NOT_READ: nowhere.yml does not exist\n  → cd to its directory, or name it with -f; for a new cluster: hyperkube init\n',
  )
})

test('a wrong word is a usage error with a guess, and nothing runs', async () => {
  expect(await runHyperkube('validte')).toMatchObject({
    code: 2,
    stderr: 'USAGE: there is no command validte\n  → did you mean hyperkube validate?\n',
  })
  expect(await runHyperkube('validate --flie x')).toMatchObject({ code: 2, stdout: '' })
  expect((await runHyperkube('\u001B[2J')).stderr).not.toContain('\u001B')
})

test('a link named after a command is that command', async () => {
  expect((await runHyperkube('', {}, { programPath: '/usr/local/bin/version' })).stdout).toBe(
    (await runHyperkube('version')).stdout,
  )
})

test('the schema is JSON and knows the settings', async () => {
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
  expect(version.stdout).toContain('→ set spec.kubernetes to 1.36.4 or 1.37.1')
})

test('the version that init writes is the newest that the catalog knows', () => {
  expect(kubernetesReleases[0]?.kubernetes).toBe(newestKubernetes)
  expect(kubernetesReleases.at(-1)?.kubernetes.startsWith(`${oldestKubernetes}.`)).toBe(true)
})
