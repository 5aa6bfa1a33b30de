import { expect, test } from 'vitest'
import { runHyperkube } from '../testing/run-in-memory.ts'

const plain = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: x }
spec:
  kubernetes: 1.37.1
  hosts: [{ name: a, address: 10.0.0.1, roles: [control-plane] }]
`

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
          args:
            fail-swap-on: no
            max-podz: 100
    - name: b
      address: 10.0.0.2
      roles: [worker]
      os: windows
      components:
        kubeProxy:
          args: { enable-dsr: true }
  components:
    kubeProxy:
      args:
        source-vip: 10.0.0.9
    flanneld:
      args:
        ip-masq: true
        iptables-resinc: 5
`

test('validate reports unknown controllers and a snapshot schedule without its controller', async () => {
  const validateWith = async (extraText: string) =>
    (await runHyperkube('validate', { 'cluster.yml': plain + extraText })).stdout
  const snapshots = "  etcd: { snapshots: { schedule: '0 */6 * * *' } }\n"
  expect(await validateWith(`  manager: { controllers: ['*', -etcd-maintenence] }\n${snapshots}`))
    .toMatchInlineSnapshot(`
      "cluster.yml:7:33: error MANAGER_CONTROLLER_UNKNOWN: spec.manager.controllers[1] there is no controller etcd-maintenence
        → did you mean etcd-maintenance?
      "
    `)
  expect(await validateWith(`  manager: none\n${snapshots}`)).toMatchInlineSnapshot(`
    "cluster.yml:8:22: error SPEC_SNAPSHOTS_NOT_TAKEN: spec.etcd.snapshots has no effect, because the controller snapshot-schedule is disabled
      → enable snapshot-schedule in spec.manager.controllers, or remove spec.etcd.snapshots
    "
  `)
  expect(await validateWith("  etcd: { snapshots: { schedule: 'daily' } }\n")).toMatchInlineSnapshot(`
    "cluster.yml:7:34: error SPEC_WRONG_VALUE: spec.etcd.snapshots.schedule must be a cron schedule with five fields, such as 0 */6 * * *
    "
  `)
  expect(await validateWith(`  manager: { controllers: ['*', disk-cordoner] }\n${snapshots}`)).not.toContain(
    'error',
  )
})

test('validate checks flags against the version and operating system, with positions', async () => {
  const { code, stdout } = await runHyperkube('validate', { 'cluster.yml': text })
  expect(code).toBe(1)
  expect(stdout).toMatchInlineSnapshot(`
    "cluster.yml:13:27: error FLAG_VALUE: spec.hosts[0].components.kubelet.args.fail-swap-on --fail-swap-on takes true or false, not "no"
    cluster.yml:14:23: error FLAG_UNKNOWN: spec.hosts[0].components.kubelet.args.max-podz kubelet 1.37.1 has no flag --max-podz
      → did you mean max-pods? If not, remove it; kubelet --help lists all flags
    cluster.yml:25:21: error FLAG_UNKNOWN: spec.components.kubeProxy.args.source-vip kube-proxy 1.37.1 has no flag --source-vip on Linux
      → set it in the components of a Windows host
    cluster.yml:29:26: error FLAG_UNKNOWN: spec.components.flanneld.args.iptables-resinc flanneld 0.28.7 has no flag --iptables-resinc
      → did you mean iptables-resync? If not, remove it; flanneld --help lists all flags
    "
  `)
})
