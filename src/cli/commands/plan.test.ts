import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { formatLock } from '../../catalog/lock.ts'
import { parseTestCluster, buildTestLock, buildPlanInput } from '../../plan/testing/fixtures.ts'
import { runHyperkube, type CliResult } from '../testing/run-in-memory.ts'

const text = readFileSync(join(import.meta.dirname, '../../../examples/high-availability.yml'), 'utf8')

/** Files of a cluster after `init` and `lock`, with recorded facts of its hosts. */
let files: Readonly<Record<string, string>>

beforeAll(async () => {
  const made = await runHyperkube('init', { 'cluster.yml': text })
  const facts = [...buildPlanInput(parseTestCluster(text)).facts].map(
    ([host, one]) => [`facts/${host}.json`, JSON.stringify(one)] as const,
  )
  files = {
    ...Object.fromEntries(made.files),
    ...Object.fromEntries(facts),
    'cluster.lock': formatLock(buildTestLock('1.37.1')),
  }
})

async function plan(words = '', changed: Readonly<Record<string, string>> = {}): Promise<CliResult> {
  return runHyperkube(`plan --facts facts ${words}`.trim(), { ...files, ...changed })
}

test('plan prints the changes of each host and the order of the steps', async () => {
  const { stdout, code, stderr } = await plan()
  expect(stderr).toBe('')
  expect(code).toBe(3)
  expect(stdout).toMatchInlineSnapshot(`
    "production: Kubernetes 1.37.1 on 5 hosts

    cp1, cp2 and cp3 (control-plane)
      + 13 binaries, 6 images, 44 files, 1 derived file, 18 certificates, 24 directories, 6 users, 4 kernel modules, 8 kernel settings
      starts hyperkube-agent, etcd, kube-apiserver, kube-controller-manager, kube-scheduler, hyperkube-controller-manager, containerd, apiserver-proxy, kubelet, flanneld, kube-proxy, kube-router

    w1 and w2 (worker)
      + 9 binaries, 6 images, 16 files, 1 derived file, 6 certificates, 17 directories, 1 user, 4 kernel modules, 8 kernel settings
      starts hyperkube-agent, containerd, apiserver-proxy, kubelet, flanneld, kube-proxy, kube-router

    addons
      + coredns: 7 objects new
      + metrics-server: 10 objects new
      + traefik: 5 objects new
      + local-path: 8 objects new

    in this order
     1. preparation on 5 hosts (cp1, cp2 and 3 more)
     2. etcd and API server on cp1, cp2 and cp3
     3. controllers, kubelet and network on 5 hosts (cp1, cp2 and 3 more)
    "
  `)
})

test('plan --wide --limit prints each op of the selected host', async () => {
  const { stdout } = await plan('--wide --limit w1')
  // The version of hyperkube changes with each release.
  expect(stdout.replace(/hyperkube-\d+\.\d+\.\d+/, 'hyperkube-VERSION')).toMatchInlineSnapshot(`
    "production: Kubernetes 1.37.1 on 5 hosts

    w1 (worker)
      host
        + kernel module br_netfilter
        + kernel module nf_conntrack
        + kernel module overlay
        + kernel module vxlan
        + kernel setting net.ipv4.ip_forward
        + kernel setting net.bridge.bridge-nf-call-iptables
        + kernel setting net.bridge.bridge-nf-call-ip6tables
        + kernel setting fs.inotify.max_user_instances
        + kernel setting fs.inotify.max_user_watches
        + kernel setting kernel.panic
        + kernel setting kernel.panic_on_oops
        + kernel setting vm.overcommit_memory
        + directory /etc/hyperkube
        + directory /var/lib/hyperkube
        + directory /var/log/hyperkube
        + directory /opt/hyperkube
        + file /etc/systemd/system/hyperkube.slice
      hyperkube-agent
        + directory /etc/hyperkube/agent
        + directory /var/lib/hyperkube/agent
        + binary hyperkube-VERSION
        + service hyperkube-agent.service
        ▸ start service hyperkube-agent.service
      containerd
        + directory /etc/hyperkube/containerd
        + directory /etc/hyperkube/containerd/certs.d
        + directory /etc/cni/net.d
        + directory /opt/cni/bin
        + binary containerd-2.3.7
        + binary runc-1.5.2
        + binary cni-plugins-1.9.1
        + binary crictl-1.36.0
        + image registry.k8s.io/pause:3.10.2
        + file /etc/hyperkube/containerd/config.toml
        + file /etc/crictl.yaml
        + service containerd.service
        ▸ start service containerd.service
      apiserver-proxy
        + user apiserver-proxy
        + directory /etc/hyperkube/apiserver-proxy
        + directory /var/lib/hyperkube/apiserver-proxy
        + file /etc/hyperkube/apiserver-proxy/ca.crt
        + file /etc/hyperkube/apiserver-proxy/config.json
        + certificate /etc/hyperkube/apiserver-proxy/client.crt
        + service apiserver-proxy.service
        ▸ start service apiserver-proxy.service
      kubelet
        + directory /etc/hyperkube/kubelet
        + directory /var/lib/kubelet
        + binary kubelet-1.37.1
        + file /etc/hyperkube/kubelet/ca.crt
        + file /etc/hyperkube/kubelet/config.yaml
        + file /etc/hyperkube/kubelet/kubeconfig
        + certificate /etc/hyperkube/kubelet/client.crt
        + certificate /etc/hyperkube/kubelet/server.crt
        + service kubelet.service
        ▸ start service kubelet.service
      flanneld
        + directory /etc/hyperkube/flanneld
        + binary flannel-0.28.7
        + file /etc/hyperkube/flanneld/ca.crt
        + file /etc/hyperkube/flanneld/net-conf.json
        + file /etc/hyperkube/flanneld/kubeconfig
        + certificate /etc/hyperkube/flanneld/client.crt
        + derived file /etc/cni/net.d/10-flannel.conflist
        + service flanneld.service
        ▸ start service flanneld.service
      kube-proxy
        + directory /etc/hyperkube/kube-proxy
        + binary kube-proxy-1.37.1
        + file /etc/hyperkube/kube-proxy/ca.crt
        + file /etc/hyperkube/kube-proxy/config.yaml
        + file /etc/hyperkube/kube-proxy/kubeconfig
        + certificate /etc/hyperkube/kube-proxy/client.crt
        + service kube-proxy.service
        ▸ start service kube-proxy.service
      kube-router
        + directory /etc/hyperkube/kube-router
        + binary kube-router-2.10.0
        + file /etc/hyperkube/kube-router/ca.crt
        + file /etc/hyperkube/kube-router/kubeconfig
        + certificate /etc/hyperkube/kube-router/client.crt
        + service kube-router.service
        ▸ start service kube-router.service
      images
        + image docker.io/library/busybox:1.37.0
        + image docker.io/library/traefik:v3.6.12
        + image docker.io/rancher/local-path-provisioner:v0.0.30
        + image registry.k8s.io/coredns/coredns:v1.15.0
        + image registry.k8s.io/metrics-server/metrics-server:v0.9.0

    in this order
     1. preparation on 5 hosts (cp1, cp2 and 3 more)
     2. controllers, kubelet and network on 5 hosts (cp1, cp2 and 3 more)
        until the controllers of cp1 are ready
        until the controllers of cp2 are ready
        until the controllers of cp3 are ready
        until the network of cp1, cp2 and 3 more is up
        until nodes cp1, cp2 and 3 more are ready
    "
  `)
})

test('plan -o json prints a document without secrets', async () => {
  const { stdout } = await plan('-o json')
  const document: unknown = JSON.parse(stdout)
  expect(document).toMatchObject({ apiVersion: 'hyperkube.dev/v1', kind: 'Plan', findings: [] })
  expect(stdout).not.toContain('PRIVATE KEY')
})

describe('plan --against a previous plan', () => {
  let previous: Readonly<Record<string, string>>
  beforeAll(async () => {
    previous = { 'previous.json': (await plan('-o json')).stdout }
  })

  test('prints that nothing is to do if nothing changed', async () => {
    const { stdout, code } = await plan('--against previous.json', previous)
    expect(code).toBe(0)
    expect(stdout).toBe('production: Kubernetes 1.37.1 on 5 hosts\nnothing to do\n')
  })

  test('with --diff prints the changed lines of each file', async () => {
    const changed = text.replace('spec:\n', 'spec:\n  components: { kubelet: { maxPods: 60 } }\n')
    const { stdout, code } = await plan('--against previous.json --diff', {
      ...previous,
      'cluster.yml': changed,
    })
    expect(code).toBe(3)
    expect(stdout).toMatchInlineSnapshot(`
      "production: Kubernetes 1.37.1 on 5 hosts

      cp1, cp2, cp3, w1 and w2 (control-plane; worker)
        ~ 1 file
        restarts kubelet
        /etc/hyperkube/kubelet/config.yaml (changed)
          @@ -24 +24 @@
           clusterDomain: cluster.local
           clusterDNS:
             - 10.96.0.10
          -maxPods: 110
          +maxPods: 60
           serializeImagePulls: false
           maxParallelImagePulls: 4
           shutdownGracePeriod: 60s

      in this order
       1. kubelet on cp1
       2. kubelet on cp2
       3. kubelet on cp3
       4. kubelet on w1
       5. kubelet on w2
      "
    `)
  })

  test('prints one step per control plane and node for a new Kubernetes version', async () => {
    const changed = text.replace('1.37.1', '1.36.4')
    const older = { 'cluster.yml': changed, 'cluster.lock': formatLock(buildTestLock('1.36.4')) }
    const before = { 'previous.json': (await plan('-o json', older)).stdout }
    const { stdout } = await plan('--against previous.json', before)
    expect(stdout.slice(stdout.indexOf('in this order'))).toMatchInlineSnapshot(`
      "in this order
        1. etcd and API server on cp1, while 2 of 3 etcd members are healthy without cp1, while the API servers of cp2 and cp3 are ready
        2. etcd and API server on cp2, while 2 of 3 etcd members are healthy without cp2, while the API servers of cp1 and cp3 are ready
        3. etcd and API server on cp3, while 2 of 3 etcd members are healthy without cp3, while the API servers of cp1 and cp2 are ready
        4. controllers on cp1
        5. controllers on cp2
        6. controllers on cp3
        7. kubelet and network on cp1, drained first
        8. kubelet and network on cp2, drained first
        9. kubelet and network on cp3, drained first
       10. kubelet and network on w1, drained first
       11. kubelet and network on w2, drained first
      "
    `)
  })

  test('refuses a file that is not a plan', async () => {
    const { code, stderr } = await plan('--against previous.json', { 'previous.json': '{}' })
    expect(code).toBe(1)
    expect(stderr).toContain('PLAN_NOT_READ: previous.json is not a plan file')
  })
})

test('plan --out saves the plan document and prints the command that applies it', async () => {
  const { files: after, stderr, stdout } = await plan('--out shop.plan -o json')
  expect(after.get('shop.plan')).toBe(stdout)
  expect(stderr).toBe('the plan is saved in shop.plan\n  → hyperkube up --plan shop.plan\n')
})

describe('plan with errors', () => {
  test('reports all findings, and equal findings of several hosts once', async () => {
    const swapping = buildPlanInput(parseTestCluster(text), () => ({
      linux: { swap: true, kernel: { ...linux().kernel, overlay: false } },
    }))
    const facts = [...swapping.facts].map(
      ([host, one]) => [`facts/${host}.json`, JSON.stringify(one)] as const,
    )
    const { code, stdout, stderr } = await plan('', Object.fromEntries(facts))
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatchInlineSnapshot(`
      "cp1, cp2, cp3, w1 and w2: error HOST_KERNEL_FEATURE: the kernel 6.1.0 has no overlay, which container images need
        → modprobe overlay; if that fails, install the kernel module package
      cp1, cp2, cp3, w1 and w2: warning HOST_SWAP: swap is on: pods do not use it, and it makes memory metrics misleading
        → swapoff -a; then remove it from /etc/fstab
      "
    `)
  })

  test('reports a missing lock with the command that creates it', async () => {
    const { 'cluster.lock': _, ...without } = files
    const { code, stderr } = await runHyperkube('plan --facts facts', without)
    expect(code).toBe(1)
    expect(stderr).toContain('LOCK_NOT_READ: cluster.lock does not exist\n  → create it: hyperkube lock\n')
  })

  test('reports an invalid facts file by its name', async () => {
    const { code, stderr } = await plan('', { 'facts/w1.json': '{"kind": "Facts"}' })
    expect(code).toBe(1)
    expect(stderr).toContain('FACTS_NOT_READ: facts/w1.json does not contain the facts of a host')
  })

  test('refuses --against without --facts as a usage error', async () => {
    const { code, stderr } = await runHyperkube('plan --against previous.json', files)
    expect([code, stderr]).toEqual([2, expect.stringContaining('--against needs --facts')])
  })
})

function linux() {
  const system = buildPlanInput(parseTestCluster(text)).facts.get('w1')?.system
  if (system?.os !== 'linux') throw new Error('w1 is a Linux host')
  return system
}
