import { formatHostPort } from '../../kit/host-port.ts'
import { stringify } from 'yaml'
import type { CertificateSpec } from '../../contract/certificate-spec.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { replacePaths, toKubeadmPath } from './control-plane-args.ts'
import { buildPodArgs, type EjectInput, formatImage, selectControlPlaneEndpoint } from './eject-context.ts'
import {
  type CredentialSpec,
  describeClient,
  describeServer,
  type EjectContent,
  type EjectDocuments,
} from './eject-file.ts'
import {
  kubeadmPaths,
  kubernetesDirectory,
  manifestDirectory,
  pkiDirectory,
  staticPodComponents,
} from './layout.ts'
import { findPlannedComponent } from './service-args.ts'
import { buildStaticPod } from './static-pod.ts'
import { listDefaultVolumes, listExtraVolumes } from './volumes.ts'

/** A file with its path on the host. */
export interface HostFile {
  readonly path: string
  readonly content: EjectContent
}

export interface HostDocuments extends Pick<EjectDocuments, 'credentials'> {
  readonly files: readonly HostFile[]
}

/** Builds the files of a control plane: static pods, certificates, kubeconfigs and settings. */
export function buildControlPlaneFiles(input: EjectInput, plan: NodePlan): HostDocuments {
  const credentials = describeCredentials(plan)
  const certificates = [...credentials.keys()].filter(
    (name) => !kubeconfigUsers.some(([user]) => user === name),
  )
  const { cas, serviceAccountKey } = input
  return {
    credentials,
    files: [
      ...buildManifests(input, plan),
      textFile(`${pkiDirectory}/etcd/ca.crt`, cas.etcd),
      textFile(`${pkiDirectory}/front-proxy-ca.crt`, cas.frontProxy),
      textFile(`${pkiDirectory}/sa.pub`, serviceAccountKey),
      secretFile(`${pkiDirectory}/ca.key`, 'kubernetes-ca-key'),
      secretFile(`${pkiDirectory}/etcd/ca.key`, 'etcd-ca-key'),
      secretFile(`${pkiDirectory}/front-proxy-ca.key`, 'front-proxy-ca-key'),
      secretFile(`${pkiDirectory}/sa.key`, 'service-account-key'),
      ...certificates.flatMap((credential): HostFile[] => [
        { path: `${pkiDirectory}/${credential}.crt`, content: { kind: 'certificate', credential } },
        { path: `${pkiDirectory}/${credential}.key`, content: { kind: 'private-key', credential } },
      ]),
      ...buildKubeconfigs(input, plan),
      ...buildSettings(plan),
    ],
  }
}

function textFile(path: string, text: string): HostFile {
  return { path, content: { kind: 'text', text } }
}

function secretFile(path: string, secret: string): HostFile {
  return { path, content: { kind: 'secret', secret } }
}

function buildManifests(input: EjectInput, plan: NodePlan): HostFile[] {
  return staticPodComponents.map((component) => {
    const args = buildPodArgs(input, plan, component).all
    const volumes = [...listDefaultVolumes(component, args), ...listExtraVolumes(component, args)]
    const pod = buildStaticPod({ component, plan, args, image: formatImage(plan, component), volumes })
    return textFile(`${manifestDirectory}/${component}.yaml`, stringify(pod, { lineWidth: 0 }))
  })
}

const [adminName, controllerManagerName, schedulerName] = ['admin', 'controller-manager', 'scheduler']
/** Kubeconfigs of a control plane, with the users that kubeadm gives them. */
const kubeconfigUsers: readonly (readonly [name: string, user: string, group?: string])[] = [
  [adminName, 'kubernetes-admin', 'kubeadm:cluster-admins'],
  [controllerManagerName, 'system:kube-controller-manager'],
  [schedulerName, 'system:kube-scheduler'],
]

function buildKubeconfigs(input: EjectInput, plan: NodePlan): HostFile[] {
  const { metadata, spec } = input.cluster
  const local = formatHostPort(plan.address, spec.api.port)
  return kubeconfigUsers.map(([name, user]) => {
    // Controller managers and schedulers use only the API server of their own host.
    const endpoint = name === adminName ? (selectControlPlaneEndpoint(input) ?? local) : local
    const access = { cluster: metadata.name, server: `https://${endpoint}`, user }
    return {
      path: `${kubernetesDirectory}/${name}.conf`,
      content: { kind: 'kubeconfig', credential: name, access },
    }
  })
}

/** Describes the certificates of kubeadm. Servers keep the names that hyperkube's certificates have. */
function describeCredentials(plan: NodePlan): ReadonlyMap<string, CredentialSpec> {
  const both: CertificateSpec['usages'] = ['server', 'client']
  const node = plan.node?.name ?? plan.host
  const etcd = findServerNames(plan, 'etcd')
  return new Map<string, CredentialSpec>([
    ['apiserver', describeServer('kubernetes', 'kube-apiserver', findServerNames(plan, 'kube-apiserver'))],
    [
      'apiserver-kubelet-client',
      describeClient('kubernetes', 'kube-apiserver-kubelet-client', 'kubeadm:cluster-admins'),
    ],
    ['apiserver-etcd-client', describeClient('etcd', 'kube-apiserver-etcd-client')],
    ['front-proxy-client', describeClient('front-proxy', 'front-proxy-client')],
    ['etcd/server', describeServer('etcd', node, etcd, both)],
    ['etcd/peer', describeServer('etcd', node, etcd, both)],
    ['etcd/healthcheck-client', describeClient('etcd', 'kube-etcd-healthcheck-client')],
    ...kubeconfigUsers.map(
      ([name, user, group]) =>
        [name, describeClient('kubernetes', user, ...(group === undefined ? [] : [group]))] as const,
    ),
  ])
}

function findServerNames(plan: NodePlan, component: string): CertificateSpec['names'] {
  const certificate = findPlannedComponent(plan, component)?.certificates.find(({ usages }) =>
    usages.includes('server'),
  )
  return certificate?.names ?? { dns: [], ip: [] }
}

/** Copies settings of the API server for which kubeadm has no file: encryption, audit, admission, authentication. */
function buildSettings(plan: NodePlan): HostFile[] {
  const component = 'kube-apiserver'
  const files = findPlannedComponent(plan, component)?.files ?? []
  return files.flatMap(({ path, content }): HostFile[] => {
    const file = path.slice(path.lastIndexOf('/') + 1)
    if (Object.hasOwn(kubeadmPaths[component], file)) return []
    const target = toKubeadmPath(component, file)
    return content.kind === 'secret'
      ? [secretFile(target, content.secret)]
      : [textFile(target, replacePaths(component, content.text))]
  })
}
