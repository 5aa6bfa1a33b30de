import { apiServerTlsName } from '../../contract/api-server-name.ts'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import { listSharedApiNames } from '../../spec/api.ts'
import { isOidcFlag } from '../../spec/oidc.ts'
import { type Args, mergeArgs, tlsCipherSuites, toFlags } from '../args.ts'
import { planClientCertificate, planServerCertificate, splitAlternativeNames } from '../certificate.ts'
import {
  buildComponentPlan,
  type ComponentPlanner,
  isControlPlane,
  isEtcdMember,
  listNodeAddresses,
  type LinuxPlanContext,
} from '../context.ts'
import { planSecretFile, planTextFile } from '../files.ts'
import { formatMemoryFloor } from '../reserved-resources.ts'
import {
  renderAdmissionConfiguration,
  renderAuthenticationConfiguration,
  selectAdmissionPlugins,
  selectAuditPolicy,
} from './api-policies.ts'
import { planControlPlaneProgram, type PlannedProgram } from './control-plane-program.ts'
import { configRoot, logRoot } from './paths.ts'
import { planLocalProbe, planRemoteProbe } from './probe-defaults.ts'
import { buildSystemdService, sandboxSettings } from './unit.ts'

const name = 'kube-apiserver'
const directory = `${configRoot}/kube-apiserver`
const log = `${logRoot}/kube-apiserver`

/**
 * Seconds from the start of a shutdown until the server stops accepting requests. Load balancers probe every
 * second or two and must notice the shutdown within this time.
 */
const shutdownDelay = 15
const requestTimeout = 60
const watchGrace = 10

export const planKubeApiserver: ComponentPlanner<LinuxPlanContext> = (context) => {
  if (!isControlPlane(context)) return undefined
  const { cluster, identity, system } = context
  const { api } = cluster.spec
  const program = planControlPlaneProgram(context, name)
  const own = { owner: name }
  const publicFile = { owner: name, mode: '0644' }
  const localUrl = `https://127.0.0.1:${api.port}`
  return buildComponentPlan({
    name,
    stage: 'api',
    version: program.version,
    // If etcd runs on other hosts, kube-apiserver need not wait for a local component.
    needs: isEtcdMember(context) ? ['etcd'] : [],
    users: [name],
    directories: [
      { path: directory, owner: name, mode: '0700' },
      { path: log, owner: name, mode: '0700' },
    ],
    artifacts: program.artifacts,
    files: [
      // kube-apiserver does not reload the CAs with which it verifies kubelets (ca.crt) and etcd, so a change
      // of these two files needs a restart.
      planTextFile(`${directory}/ca.crt`, identity.cas.kubernetes, publicFile),
      planTextFile(`${directory}/etcd-ca.crt`, identity.cas.etcd, publicFile),
      planTextFile(`${directory}/front-proxy-ca.crt`, identity.cas.frontProxy, {
        ...publicFile,
        restart: false,
      }),
      planTextFile(`${directory}/service-account.pub`, identity.serviceAccountKeys, { ...own, mode: '0644' }),
      planSecretFile(`${directory}/service-account.key`, 'service-account-key', identity, own),
      // kube-apiserver reloads this file without a restart.
      planSecretFile(`${directory}/encryption.yaml`, 'encryption-configuration', identity, {
        ...own,
        restart: false,
      }),
      planTextFile(`${directory}/authentication.yaml`, renderAuthenticationConfiguration(context), own),
      planTextFile(`${directory}/admission.yaml`, renderAdmissionConfiguration(context), own),
      planTextFile(`${directory}/audit-policy.yaml`, selectAuditPolicy(context), own),
    ],
    certificates: planCertificates(context),
    service: buildSystemdService(
      {
        name,
        description: 'Kubernetes API server',
        after: ['etcd'],
        type: 'notify',
        user: name,
        command: [`${program.directory}/${name}`, ...toFlags(buildArgs(context, program))],
        memoryFloor: formatMemoryFloor(name),
        settings: [
          ['TimeoutStopSec', String(shutdownDelay + requestTimeout + watchGrace + 10)],
          ...sandboxSettings(log),
          ...(api.port < 1024
            ? ([
                ['AmbientCapabilities', 'CAP_NET_BIND_SERVICE'],
                ['CapabilityBoundingSet', 'CAP_NET_BIND_SERVICE'],
              ] as const)
            : []),
        ],
      },
      system,
    ),
    probes: [
      planLocalProbe({
        name: 'livez',
        // etcd is excluded, because a restart of kube-apiserver cannot repair it.
        check: { kind: 'http', url: `${localUrl}/livez?exclude=etcd`, caFile: `${directory}/ca.crt` },
        // A server under load may respond slowly, and a restart would increase the load further.
        timeoutMs: 10_000,
        failureThreshold: 6,
      }),
      planRemoteProbe({
        name: 'readyz',
        check: { kind: 'http', url: `${localUrl}/readyz`, caFile: `${directory}/ca.crt` },
      }),
    ],
  })
}

function buildArgs(context: LinuxPlanContext, program: PlannedProgram): Args {
  const { cluster, topology } = context
  const { api, network, security, components } = cluster.spec
  // kube-apiserver demands an address of the same family as its first service network.
  const [advertised] = listNodeAddresses(context)
  // OIDC flags are left out, because the authentication file already contains their values.
  const userArgs = Object.entries(components.apiServer.args).filter(([flag]) => !isOidcFlag(flag))
  return mergeArgs(
    {
      'advertise-address': advertised,
      // Network and storage pods need privileges. Pod Security decides who may create such pods.
      'allow-privileged': 'true',
      'secure-port': String(api.port),
      'authentication-config': `${directory}/authentication.yaml`,
      'authorization-mode': 'Node,RBAC',
      'enable-admission-plugins': selectAdmissionPlugins(context).join(','),
      'admission-control-config-file': `${directory}/admission.yaml`,
      'client-ca-file': `${directory}/ca.crt`,
      'tls-cert-file': `${directory}/server.crt`,
      'tls-private-key-file': `${directory}/server.key`,
      'tls-min-version': 'VersionTLS12',
      'tls-cipher-suites': tlsCipherSuites.join(','),
      'etcd-servers': listEtcdServers(context).join(','),
      'etcd-cafile': `${directory}/etcd-ca.crt`,
      'etcd-certfile': `${directory}/etcd-client.crt`,
      'etcd-keyfile': `${directory}/etcd-client.key`,
      'encryption-provider-config': `${directory}/encryption.yaml`,
      'encryption-provider-config-automatic-reload': 'true',
      'kubelet-certificate-authority': `${directory}/ca.crt`,
      'kubelet-client-certificate': `${directory}/kubelet-client.crt`,
      'kubelet-client-key': `${directory}/kubelet-client.key`,
      // kube-apiserver connects to kubelets by IP address, because host names of nodes may not resolve.
      'kubelet-preferred-address-types': 'InternalIP',
      'proxy-client-cert-file': `${directory}/front-proxy-client.crt`,
      'proxy-client-key-file': `${directory}/front-proxy-client.key`,
      'requestheader-client-ca-file': `${directory}/front-proxy-ca.crt`,
      'requestheader-allowed-names': 'front-proxy-client',
      'requestheader-username-headers': 'X-Remote-User',
      'requestheader-group-headers': 'X-Remote-Group',
      'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
      'service-account-issuer': `https://kubernetes.default.svc.${network.domain}`,
      'service-account-key-file': `${directory}/service-account.pub`,
      'service-account-signing-key-file': `${directory}/service-account.key`,
      'service-account-extend-token-expiration': 'false',
      'service-cluster-ip-range': network.services.join(','),
      'service-node-port-range': network.nodePorts,
      'audit-policy-file': `${directory}/audit-policy.yaml`,
      'audit-log-path': `${log}/audit.log`,
      'audit-log-maxage': String(security.audit.maxAge),
      'audit-log-maxbackup': String(security.audit.maxBackups),
      'audit-log-maxsize': String(security.audit.maxSize),
      'shutdown-delay-duration': `${shutdownDelay}s`,
      'shutdown-send-retry-after': 'true',
      'shutdown-watch-termination-grace-period': `${watchGrace}s`,
      'request-timeout': `${requestTimeout}s`,
      // With this flag kube-apiserver closes some long connections, so that clients reconnect and also use
      // restarted servers. A single server does not need the flag.
      ...(topology.controlPlanes.length > 1 ? { 'goaway-chance': '0.001' } : {}),
      profiling: 'false',
      ...program.args,
    },
    Object.fromEntries(userArgs),
  )
}

/**
 * Returns only the local etcd member if there is one. If this member fails, the local API server fails too,
 * and clients use another API server.
 */
function listEtcdServers(context: LinuxPlanContext): string[] {
  if (isEtcdMember(context)) return ['https://127.0.0.1:2379']
  return context.topology.etcd.map(({ address }) => `https://${address}:2379`)
}

function planCertificates(context: LinuxPlanContext): PlannedCertificate[] {
  const { host, address, ipv6Address = address, cluster, topology } = context
  const { api, network } = cluster.spec
  const service = ['kubernetes', 'kubernetes.default', apiServerTlsName]
  const names = splitAlternativeNames(
    ...service,
    `kubernetes.default.svc.${network.domain}`,
    'localhost',
    '127.0.0.1',
    host.name,
    host.address,
    address,
    ipv6Address,
    ...topology.apiServiceAddresses,
    ...listSharedApiNames(api),
    ...api.sans,
  )
  const own = { owner: name, ca: 'kubernetes' } as const
  return [
    planServerCertificate(context, { ...own, path: `${directory}/server`, commonName: name }, names),
    planClientCertificate(context, {
      ...own,
      path: `${directory}/kubelet-client`,
      commonName: 'kube-apiserver-kubelet-client',
    }),
    planClientCertificate(context, {
      ...own,
      path: `${directory}/etcd-client`,
      ca: 'etcd',
      commonName: 'kube-apiserver-etcd-client',
    }),
    planClientCertificate(context, {
      ...own,
      path: `${directory}/front-proxy-client`,
      ca: 'front-proxy',
      commonName: 'front-proxy-client',
    }),
  ]
}
