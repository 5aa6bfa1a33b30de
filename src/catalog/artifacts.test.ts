import { expect, test } from 'vitest'
import { type Artifact, artifactsFor, type ArtifactTarget, upstreamArtifacts } from './artifacts.ts'
import { findKubernetesRelease } from './catalog.ts'
import { shippedCatalog } from './shipped-catalog.ts'

function lines(version: string, target: ArtifactTarget): string {
  return artifactsFor(findKubernetesRelease(shippedCatalog, version), target).map(line).join('\n')
}

function line(artifact: Artifact): string {
  if (artifact.from === 'this-release') return `${artifact.component} of this release`
  const { component, version, url, checksum } = artifact
  const digest = checksum === undefined ? 'no checksum file' : `${checksum.format} ${checksum.url}`
  return `${component} ${version} ${url}\n  ${digest}`
}

test('the artifacts of a Linux host match the golden list', () => {
  expect(lines('1.37.1', { os: 'linux', arch: 'amd64' })).toMatchInlineSnapshot(`
    "hyperkube of this release
    kube-apiserver 1.37.1 https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kube-apiserver
      bare https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kube-apiserver.sha256
    kube-controller-manager 1.37.1 https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kube-controller-manager
      bare https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kube-controller-manager.sha256
    kube-scheduler 1.37.1 https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kube-scheduler
      bare https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kube-scheduler.sha256
    kubelet 1.37.1 https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kubelet
      bare https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kubelet.sha256
    kube-proxy 1.37.1 https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kube-proxy
      bare https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kube-proxy.sha256
    kubectl 1.37.1 https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kubectl
      bare https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kubectl.sha256
    etcd 3.7.3 https://github.com/etcd-io/etcd/releases/download/v3.7.3/etcd-v3.7.3-linux-amd64.tar.gz
      lines https://github.com/etcd-io/etcd/releases/download/v3.7.3/SHA256SUMS
    containerd 2.3.7 https://github.com/containerd/containerd/releases/download/v2.3.7/containerd-2.3.7-linux-amd64.tar.gz
      lines https://github.com/containerd/containerd/releases/download/v2.3.7/containerd-2.3.7-linux-amd64.tar.gz.sha256sum
    runc 1.5.2 https://github.com/opencontainers/runc/releases/download/v1.5.2/runc.amd64
      lines https://github.com/opencontainers/runc/releases/download/v1.5.2/runc.sha256sum
    cni-plugins 1.9.1 https://github.com/containernetworking/plugins/releases/download/v1.9.1/cni-plugins-linux-amd64-v1.9.1.tgz
      lines https://github.com/containernetworking/plugins/releases/download/v1.9.1/cni-plugins-linux-amd64-v1.9.1.tgz.sha256
    flannel 0.28.7 https://github.com/flannel-io/flannel/releases/download/v0.28.7/flanneld-amd64
      no checksum file
    kube-router 2.10.0 https://github.com/cloudnativelabs/kube-router/releases/download/v2.10.0/kube-router_2.10.0_linux_amd64.tar.gz
      lines https://github.com/cloudnativelabs/kube-router/releases/download/v2.10.0/kube-router_2.10.0_checksums.txt
    crictl 1.36.0 https://github.com/kubernetes-sigs/cri-tools/releases/download/v1.36.0/crictl-v1.36.0-linux-amd64.tar.gz
      bare https://github.com/kubernetes-sigs/cri-tools/releases/download/v1.36.0/crictl-v1.36.0-linux-amd64.tar.gz.sha256"
  `)
})

test('the artifacts of a Windows host match the golden list', () => {
  expect(lines('1.36.4', { os: 'windows', arch: 'amd64' })).toMatchInlineSnapshot(`
    "hyperkube of this release
    kubelet 1.36.4 https://dl.k8s.io/release/v1.36.4/bin/windows/amd64/kubelet.exe
      bare https://dl.k8s.io/release/v1.36.4/bin/windows/amd64/kubelet.exe.sha256
    kube-proxy 1.36.4 https://dl.k8s.io/release/v1.36.4/bin/windows/amd64/kube-proxy.exe
      bare https://dl.k8s.io/release/v1.36.4/bin/windows/amd64/kube-proxy.exe.sha256
    kubectl 1.36.4 https://dl.k8s.io/release/v1.36.4/bin/windows/amd64/kubectl.exe
      bare https://dl.k8s.io/release/v1.36.4/bin/windows/amd64/kubectl.exe.sha256
    kube-log-runner 1.36.4 https://dl.k8s.io/release/v1.36.4/bin/windows/amd64/kube-log-runner.exe
      bare https://dl.k8s.io/release/v1.36.4/bin/windows/amd64/kube-log-runner.exe.sha256
    containerd 2.3.7 https://github.com/containerd/containerd/releases/download/v2.3.7/containerd-2.3.7-windows-amd64.tar.gz
      lines https://github.com/containerd/containerd/releases/download/v2.3.7/containerd-2.3.7-windows-amd64.tar.gz.sha256sum
    cni-plugins 1.9.1 https://github.com/containernetworking/plugins/releases/download/v1.9.1/cni-plugins-windows-amd64-v1.9.1.tgz
      lines https://github.com/containernetworking/plugins/releases/download/v1.9.1/cni-plugins-windows-amd64-v1.9.1.tgz.sha256
    flannel 0.28.7 https://github.com/flannel-io/flannel/releases/download/v0.28.7/flanneld.exe
      no checksum file
    shawl 1.9.0 https://github.com/mtkennerly/shawl/releases/download/v1.9.0/shawl-v1.9.0-win64.zip
      no checksum file"
  `)
})

test('the arm64 artifacts are the amd64 artifacts with another architecture in the URL', () => {
  const release = findKubernetesRelease(shippedCatalog, '1.37.1')
  const amd64 = upstreamArtifacts(release, { os: 'linux', arch: 'amd64' })
  const arm64 = upstreamArtifacts(release, { os: 'linux', arch: 'arm64' })
  expect(arm64.map(({ url }) => url)).toEqual(amd64.map(({ url }) => url.replace('amd64', 'arm64')))
})
