import { stringify } from 'yaml'
import type { Versions } from '../cluster/artifacts.ts'
import { hostSettings, kubeProxyConfig } from '../cluster/configs.ts'
import { clusterNetwork } from '../cluster/units.ts'
import type { Host } from '../hosts/host.ts'
import { formatEtcdTag } from './images.ts'

const configVersion = 'kubeadm.k8s.io/v1beta4'

/**
 * Secrets with which hosts join. They are generated before the benchmark starts, so joins do not depend on
 * the output of `kubeadm init`.
 */
export interface JoinSecrets {
  readonly token: string
  readonly certificateKey: string
}

export function renderInitConfig(first: Host, versions: Versions, secrets: JoinSecrets): string {
  const documents = [
    {
      apiVersion: configVersion,
      kind: 'InitConfiguration',
      bootstrapTokens: [{ token: secrets.token, ttl: '1h0m0s' }],
      certificateKey: secrets.certificateKey,
      localAPIEndpoint: { advertiseAddress: first.address, bindPort: 6443 },
      nodeRegistration: buildNodeRegistration(first),
    },
    {
      apiVersion: configVersion,
      kind: 'ClusterConfiguration',
      kubernetesVersion: versions.kubernetes,
      controlPlaneEndpoint: `${first.address}:6443`,
      networking: { podSubnet: clusterNetwork.pods, serviceSubnet: clusterNetwork.services },
      // Hosts with a local proxy reach API servers at 127.0.0.1, so their certificates must contain this
      // address.
      apiServer: { certSANs: ['127.0.0.1'] },
      etcd: { local: { imageTag: formatEtcdTag(versions) } },
    },
    { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...hostSettings },
    kubeProxyConfig,
  ]
  return documents.map((document) => stringify(document)).join('---\n')
}

export function renderJoinConfig(
  host: Host,
  first: Host,
  secrets: JoinSecrets,
  controlPlane: boolean,
): string {
  return stringify({
    apiVersion: configVersion,
    kind: 'JoinConfiguration',
    discovery: {
      bootstrapToken: {
        token: secrets.token,
        apiServerEndpoint: `${first.address}:6443`,
        unsafeSkipCAVerification: true,
      },
    },
    nodeRegistration: buildNodeRegistration(host),
    ...(controlPlane
      ? {
          controlPlane: {
            localAPIEndpoint: { advertiseAddress: host.address, bindPort: 6443 },
            certificateKey: secrets.certificateKey,
          },
        }
      : {}),
  })
}

/** Settings for lab hosts, which already have all images and cannot pass some preflight checks. */
const skippedChecks = { imagePullPolicy: 'Never', ignorePreflightErrors: ['all'] }

/** Renders the configuration of both `kubeadm upgrade apply` and `kubeadm upgrade node`. */
export function renderUpgradeConfig(): string {
  const document = {
    apiVersion: configVersion,
    kind: 'UpgradeConfiguration',
    apply: skippedChecks,
    node: skippedChecks,
  }
  return stringify(document, { aliasDuplicateObjects: false })
}

function buildNodeRegistration(host: Host): object {
  return {
    name: host.name,
    criSocket: hostSettings.containerRuntimeEndpoint,
    ...skippedChecks,
    kubeletExtraArgs: [{ name: 'node-ip', value: host.address }],
  }
}

/** The kubelet service from kubeadm's packages. `init` and `join` start it. */
export const kubeletUnit = `[Unit]
Description=kubelet
After=containerd.service
StartLimitIntervalSec=0

[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
ExecStart=/usr/local/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS
Restart=always
RestartSec=1
KillMode=process

[Install]
WantedBy=multi-user.target
`
