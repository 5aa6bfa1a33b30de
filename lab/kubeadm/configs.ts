import { stringify } from 'yaml'
import type { Versions } from '../cluster/artifacts.ts'
import { hostSettings, kubeProxyConfig } from '../cluster/configs.ts'
import { network } from '../cluster/units.ts'
import type { Host } from '../hosts/host.ts'
import { etcdTag } from './images.ts'

const version = 'kubeadm.k8s.io/v1beta4'

/** Known before the start, so that joins need nothing from the output of `init`. */
export interface JoinSecrets {
  readonly token: string
  readonly certificateKey: string
}

export function initConfig(first: Host, versions: Versions, secrets: JoinSecrets): string {
  const documents = [
    {
      apiVersion: version,
      kind: 'InitConfiguration',
      bootstrapTokens: [{ token: secrets.token, ttl: '1h0m0s' }],
      certificateKey: secrets.certificateKey,
      localAPIEndpoint: { advertiseAddress: first.address, bindPort: 6443 },
      nodeRegistration: registration(first),
    },
    {
      apiVersion: version,
      kind: 'ClusterConfiguration',
      kubernetesVersion: versions.kubernetes,
      controlPlaneEndpoint: `${first.address}:6443`,
      networking: { podSubnet: network.pods, serviceSubnet: network.services },
      // Whoever has a proxy on their own host calls all API servers by this address.
      apiServer: { certSANs: ['127.0.0.1'] },
      etcd: { local: { imageTag: etcdTag(versions) } },
    },
    { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...hostSettings },
    kubeProxyConfig,
  ]
  return documents.map((document) => stringify(document)).join('---\n')
}

export function joinConfig(host: Host, first: Host, secrets: JoinSecrets, controlPlane: boolean): string {
  return stringify({
    apiVersion: version,
    kind: 'JoinConfiguration',
    discovery: {
      bootstrapToken: {
        token: secrets.token,
        apiServerEndpoint: `${first.address}:6443`,
        unsafeSkipCAVerification: true,
      },
    },
    nodeRegistration: registration(host),
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

/** A lab's host has all images beforehand, and fails checks that ask for what it cannot have. */
const leniency = { imagePullPolicy: 'Never', ignorePreflightErrors: ['all'] }

/** For `kubeadm upgrade apply` and `kubeadm upgrade node` alike. */
export function upgradeConfig(): string {
  const document = { apiVersion: version, kind: 'UpgradeConfiguration', apply: leniency, node: leniency }
  return stringify(document, { aliasDuplicateObjects: false })
}

function registration(host: Host): object {
  return {
    name: host.name,
    criSocket: hostSettings.containerRuntimeEndpoint,
    ...leniency,
    kubeletExtraArgs: [{ name: 'node-ip', value: host.address }],
  }
}

/** The service that kubeadm's packages bring along, and that `init` and `join` start. */
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
