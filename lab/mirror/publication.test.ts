import { expect, test } from 'vitest'
import { selectParts } from '../components/parts.ts'
import { formatImagePath } from './images.ts'
import { listPublications } from './publication.ts'

function paths(...parts: string[]): string[] {
  return selectParts(parts).flatMap((part) => listPublications(part, 'amd64').map(({ path }) => path))
}

test('artifacts are published at the paths of upstream', () => {
  expect(paths('etcd@v3.7.3', 'containerd', 'runc', 'cni-plugins', 'flannel', 'kube-router', 'crictl'))
    .toMatchInlineSnapshot(`
      [
        "github.com/etcd-io/etcd/releases/download/v3.7.3/etcd-v3.7.3-linux-amd64.tar.gz",
        "github.com/etcd-io/etcd/releases/download/v3.7.3/SHA256SUMS",
        "images/registry.k8s.io/etcd/3.7.3-0.tar",
        "images/registry.k8s.io/etcd/3.7.3-0.tar.sha256",
        "github.com/containerd/containerd/releases/download/v2.3.7/containerd-2.3.7-linux-amd64.tar.gz",
        "github.com/containerd/containerd/releases/download/v2.3.7/containerd-2.3.7-linux-amd64.tar.gz.sha256sum",
        "github.com/opencontainers/runc/releases/download/v1.5.2/runc.amd64",
        "github.com/opencontainers/runc/releases/download/v1.5.2/runc.sha256sum",
        "github.com/containernetworking/plugins/releases/download/v1.9.1/cni-plugins-linux-amd64-v1.9.1.tgz",
        "github.com/containernetworking/plugins/releases/download/v1.9.1/cni-plugins-linux-amd64-v1.9.1.tgz.sha256",
        "github.com/flannel-io/flannel/releases/download/v0.28.7/flanneld-amd64",
        "images/ghcr.io/flannel-io/flannel/v0.28.7.tar",
        "images/ghcr.io/flannel-io/flannel/v0.28.7.tar.sha256",
        "github.com/cloudnativelabs/kube-router/releases/download/v2.10.0/kube-router_2.10.0_linux_amd64.tar.gz",
        "github.com/cloudnativelabs/kube-router/releases/download/v2.10.0/kube-router_2.10.0_checksums.txt",
        "github.com/kubernetes-sigs/cri-tools/releases/download/v1.36.0/crictl-v1.36.0-linux-amd64.tar.gz",
        "github.com/kubernetes-sigs/cri-tools/releases/download/v1.36.0/crictl-v1.36.0-linux-amd64.tar.gz.sha256",
      ]
    `)
  expect(paths('helm')).toEqual([
    'get.helm.sh/helm-v4.3.1-linux-amd64.tar.gz',
    'get.helm.sh/helm-v4.3.1-linux-amd64.tar.gz.sha256sum',
  ])
  expect(paths('kubernetes@v1.36.4')).toContain('dl.k8s.io/release/v1.36.4/bin/linux/amd64/kubelet.sha256')
  expect(paths('windows')).toMatchInlineSnapshot(`
    [
      "dl.k8s.io/release/v1.37.1/bin/windows/amd64/kubelet.exe",
      "dl.k8s.io/release/v1.37.1/bin/windows/amd64/kubelet.exe.sha256",
      "dl.k8s.io/release/v1.37.1/bin/windows/amd64/kube-proxy.exe",
      "dl.k8s.io/release/v1.37.1/bin/windows/amd64/kube-proxy.exe.sha256",
      "dl.k8s.io/release/v1.37.1/bin/windows/amd64/kubectl.exe",
      "dl.k8s.io/release/v1.37.1/bin/windows/amd64/kubectl.exe.sha256",
      "dl.k8s.io/release/v1.37.1/bin/windows/amd64/kube-log-runner.exe",
      "dl.k8s.io/release/v1.37.1/bin/windows/amd64/kube-log-runner.exe.sha256",
      "dl.k8s.io/release/v1.36.4/bin/windows/amd64/kubelet.exe",
      "dl.k8s.io/release/v1.36.4/bin/windows/amd64/kubelet.exe.sha256",
      "dl.k8s.io/release/v1.36.4/bin/windows/amd64/kube-proxy.exe",
      "dl.k8s.io/release/v1.36.4/bin/windows/amd64/kube-proxy.exe.sha256",
      "dl.k8s.io/release/v1.36.4/bin/windows/amd64/kubectl.exe",
      "dl.k8s.io/release/v1.36.4/bin/windows/amd64/kubectl.exe.sha256",
      "dl.k8s.io/release/v1.36.4/bin/windows/amd64/kube-log-runner.exe",
      "dl.k8s.io/release/v1.36.4/bin/windows/amd64/kube-log-runner.exe.sha256",
      "github.com/containerd/containerd/releases/download/v2.3.7/containerd-2.3.7-windows-amd64.tar.gz",
      "github.com/containerd/containerd/releases/download/v2.3.7/containerd-2.3.7-windows-amd64.tar.gz.sha256sum",
      "github.com/containernetworking/plugins/releases/download/v1.9.1/cni-plugins-windows-amd64-v1.9.1.tgz",
      "github.com/containernetworking/plugins/releases/download/v1.9.1/cni-plugins-windows-amd64-v1.9.1.tgz.sha256",
      "github.com/flannel-io/flannel/releases/download/v0.28.7/flanneld.exe",
    ]
  `)
})

test('an image is stored by its name and tag', () => {
  expect(formatImagePath('registry.k8s.io/coredns/coredns:v1.15.0')).toBe(
    'images/registry.k8s.io/coredns/coredns/v1.15.0.tar',
  )
  expect(formatImagePath('localhost:5000/a/b:1')).toBe('images/localhost:5000/a/b/1.tar')
})
