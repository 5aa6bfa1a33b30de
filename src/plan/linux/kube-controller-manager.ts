import { isDualStack, type Network } from '../../spec/network.ts'
import { type Args, mergeArgs, tlsCipherSuites, toFlags } from '../args.ts'
import { planClientCertificate, planServerCertificate } from '../certificate.ts'
import {
  buildComponentPlan,
  type ComponentPlanner,
  isControlPlane,
  type LinuxPlanContext,
} from '../context.ts'
import { planSecretFile, planTextFile } from '../files.ts'
import { formatMemoryFloor } from '../reserved-resources.ts'
import { planControlPlaneProgram } from './control-plane-program.ts'
import { configRoot, planLinuxKubeconfig } from './paths.ts'
import { planLocalProbe } from './probe-defaults.ts'
import { buildSystemdService, sandboxSettings } from './unit.ts'

const name = 'kube-controller-manager'
const user = 'system:kube-controller-manager'
const directory = `${configRoot}/kube-controller-manager`

export const planKubeControllerManager: ComponentPlanner<LinuxPlanContext> = (context) => {
  if (!isControlPlane(context)) return undefined
  const { cluster, identity, system } = context
  const { network, api, cloudProvider, components, security } = cluster.spec
  const program = planControlPlaneProgram(context, name)
  const kubeconfig = `${directory}/kubeconfig`
  const args = mergeArgs(
    {
      kubeconfig,
      'authentication-kubeconfig': kubeconfig,
      'authorization-kubeconfig': kubeconfig,
      'bind-address': '127.0.0.1',
      'tls-cert-file': `${directory}/server.crt`,
      'tls-private-key-file': `${directory}/server.key`,
      'tls-min-version': 'VersionTLS12',
      'tls-cipher-suites': tlsCipherSuites.join(','),
      'client-ca-file': `${directory}/ca.crt`,
      'allocate-node-cidrs': 'true',
      'cluster-name': cluster.metadata.name,
      'cluster-cidr': network.pods.join(','),
      ...buildNodePrefixArgs(network),
      'service-cluster-ip-range': network.services.join(','),
      'cluster-signing-cert-file': `${directory}/signer.crt`,
      'cluster-signing-key-file': `${directory}/ca.key`,
      'root-ca-file': `${directory}/ca.crt`,
      'service-account-private-key-file': `${directory}/service-account.key`,
      'use-service-account-credentials': 'true',
      // Kubernetes otherwise keeps 12,500 terminated pods.
      ...(security.profile === 'cis' ? { 'terminated-pod-gc-threshold': '1000' } : {}),
      ...(cloudProvider === 'external' ? { 'cloud-provider': 'external' } : {}),
      profiling: 'false',
      ...program.args,
    },
    components.controllerManager.args,
  )
  const own = { owner: name, ca: 'kubernetes' } as const
  return buildComponentPlan({
    name,
    stage: 'controllers',
    version: program.version,
    needs: ['kube-apiserver'],
    users: [name],
    directories: [{ path: directory, owner: name, mode: '0700' }],
    artifacts: program.artifacts,
    files: [
      planTextFile(`${directory}/ca.crt`, identity.cas.kubernetes, { owner: name, mode: '0644' }),
      // This file holds only the signing CA, because kube-controller-manager signs with one CA even while
      // several CAs are trusted.
      planTextFile(`${directory}/signer.crt`, identity.kubernetesSigner, { owner: name, mode: '0644' }),
      planSecretFile(`${directory}/ca.key`, 'kubernetes-ca-key', identity, own),
      planSecretFile(`${directory}/service-account.key`, 'service-account-key', identity, own),
      // kube-controller-manager connects only to the local API server, because it must not be newer than its
      // server.
      planLinuxKubeconfig(context, name, `https://127.0.0.1:${api.port}`, name),
    ],
    certificates: [
      planClientCertificate(context, { ...own, path: `${directory}/client`, commonName: user }),
      planServerCertificate(
        context,
        { ...own, path: `${directory}/server`, commonName: name },
        { dns: ['localhost'], ip: ['127.0.0.1'] },
      ),
    ],
    service: buildSystemdService(
      {
        name,
        description: 'Kubernetes controller manager',
        after: ['kube-apiserver'],
        type: 'exec',
        user: name,
        command: [`${program.directory}/${name}`, ...toFlags(args)],
        memoryFloor: formatMemoryFloor(name),
        settings: sandboxSettings(),
      },
      system,
    ),
    probes: [
      planLocalProbe({
        name: 'healthz',
        check: { kind: 'http', url: 'https://127.0.0.1:10257/healthz', caFile: `${directory}/ca.crt` },
      }),
    ],
  })
}

/** Builds the flags for the part of a pod network that one node gets. Dual-stack has a flag per family. */
function buildNodePrefixArgs(network: Network): Args {
  const { nodePrefix, nodePrefixIPv6 } = network
  return isDualStack(network)
    ? {
        'node-cidr-mask-size-ipv4': String(nodePrefix),
        'node-cidr-mask-size-ipv6': String(nodePrefixIPv6),
      }
    : { 'node-cidr-mask-size': String(nodePrefix) }
}
