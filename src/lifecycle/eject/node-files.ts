import { stringify } from 'yaml'
import type { NodePlan } from '../../contract/node-plan.ts'
import { toFlags } from '../../plan/args.ts'
import { buildKubeconfig } from '../../pki/kubeconfig.ts'
import { listKeptClients } from './component-fate.ts'
import type { HostDocuments, HostFile } from './control-plane-files.ts'
import { type EjectInput, selectControlPlaneEndpoint } from './eject-context.ts'
import { type CredentialSpec, describeClient } from './eject-file.ts'
import { buildKubeletConfig, readKubeletFlags } from './kubelet-settings.ts'
import { kubeletDirectory, kubernetesDirectory, pkiDirectory } from './layout.ts'
import { findPlannedComponent } from './service-args.ts'

/** Name of the first client certificate. Later ones get a date in their name by the kubelet. */
export const kubeletCertificate = `${kubeletDirectory}/pki/kubelet-client-eject.pem`
/** The link that the kubelet changes when it renews its certificate. */
export const kubeletCertificateLink = `${kubeletDirectory}/pki/kubelet-client-current.pem`

/** Builds the files that each node needs: those of the kubelet, and kubeconfigs of services that are kept. */
export function buildNodeFiles(input: EjectInput, plan: NodePlan): HostDocuments {
  const { cluster, cas } = input
  const node = plan.node?.name ?? plan.host
  const user = `system:node:${node}`
  const access = {
    cluster: cluster.metadata.name,
    server: `https://${selectControlPlaneEndpoint(input) ?? ''}`,
    user,
  }
  const kept = listKeptClients(plan)
  return {
    credentials: new Map<string, CredentialSpec>([
      ['kubelet', describeClient('kubernetes', user, 'system:nodes')],
      ...kept.map((name) => [name, describeKeptClient(plan, name)] as const),
    ]),
    files: [
      { path: `${pkiDirectory}/ca.crt`, content: { kind: 'text', text: cas.kubernetes } },
      {
        path: `${kubernetesDirectory}/kubelet.conf`,
        content: {
          kind: 'text',
          text: stringify(
            buildKubeconfig(access, {
              ca: `${pkiDirectory}/ca.crt`,
              certificate: kubeletCertificateLink,
              privateKey: kubeletCertificateLink,
            }),
          ),
        },
      },
      { path: kubeletCertificate, content: { kind: 'key-pair', credential: 'kubelet' } },
      {
        path: `${kubeletDirectory}/config.yaml`,
        content: { kind: 'text', text: stringify(buildKubeletConfig(plan)) },
      },
      {
        path: `${kubeletDirectory}/kubeadm-flags.env`,
        content: {
          kind: 'text',
          text: `KUBELET_KUBEADM_ARGS="${toFlags(readKubeletFlags(plan)).join(' ')}"\n`,
        },
      },
      ...kept.map((name): HostFile => ({
        path: `/etc/hyperkube/${name}/kubeconfig`,
        content: { kind: 'kubeconfig', credential: name, access: { ...access, user: name } },
      })),
    ],
  }
}

/** Describes the client certificate of a kept service. Its user has the RBAC rules of hyperkube. */
function describeKeptClient(plan: NodePlan, component: string): CredentialSpec {
  const subject = findPlannedComponent(plan, component)?.certificates[0]?.subject
  return describeClient('kubernetes', subject?.commonName ?? '', ...(subject?.organizations ?? []))
}

/** Unit of the kubelet, as in the packages of kubeadm. It is used if no package has installed one. */
export const kubeletUnit = `[Unit]
Description=kubelet: The Kubernetes Node Agent
Documentation=https://kubernetes.io/docs/
Wants=network-online.target
After=network-online.target containerd.service
StartLimitIntervalSec=0

[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=/usr/bin/env kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
Restart=always
RestartSec=10
KillMode=process
Delegate=yes

[Install]
WantedBy=multi-user.target
`
