import type { PlannedCertificate } from '../../contract/component-plan.ts'
import { type Args, flags, mergeArgs } from '../args.ts'
import { download } from '../download.ts'
import { clientCertificate, serverCertificate } from '../certificate.ts'
import { component, type Planner } from '../component.ts'
import { secretFile, textFile } from '../files.ts'
import { memoryFloor } from '../memory-floors.ts'
import { alternativeNames } from '../alternative-names.ts'
import { isControlPlane, isEtcdMember, type LinuxScene } from '../context.ts'
import { ciphers } from '../tls-cipher-suites.ts'
import { admissionConfiguration, auditPolicy, authenticationConfiguration } from './api-policies.ts'
import { etc, logs, programDirectory } from './paths.ts'
import { local, remote } from './probes.ts'
import { confined, systemdService } from './unit.ts'

const name = 'kube-apiserver'
const directory = `${etc}/kube-apiserver`
const log = `${logs}/kube-apiserver`

/** Balancers ask every second or two; after this time even a slow one has noticed. */
const shutdownDelay = 15
const requestTimeout = 60
const watchGrace = 10

export const kubeApiserver: Planner<LinuxScene> = (scene) => {
  if (!isControlPlane(scene)) return undefined
  const { cluster, identity, system } = scene
  const { api } = cluster.spec
  const program = download(scene, name, programDirectory, { kind: 'program', as: name })
  const own = { owner: name }
  const authority = { owner: name, mode: '0644' }
  const itself = `https://127.0.0.1:${api.port}`
  return component({
    name,
    stage: 'api',
    version: program.version,
    // Also when etcd is elsewhere: what is not on this host is not waited for.
    needs: isEtcdMember(scene) ? ['etcd'] : [],
    users: [name],
    directories: [
      { path: directory, owner: name, mode: '0700' },
      { path: log, owner: name, mode: '0700' },
    ],
    artifacts: [program],
    files: [
      // It sees by itself whom clients may be signed by, but neither kubelets nor etcd.
      textFile(`${directory}/ca.crt`, identity.authorities.kubernetes, authority),
      textFile(`${directory}/etcd-ca.crt`, identity.authorities.etcd, authority),
      textFile(`${directory}/front-proxy-ca.crt`, identity.authorities.frontProxy, {
        ...authority,
        restart: false,
      }),
      textFile(`${directory}/service-account.pub`, identity.serviceAccountKeys, { ...own, mode: '0644' }),
      secretFile(`${directory}/service-account.key`, 'service-account-key', identity, own),
      // It watches this file by itself.
      secretFile(`${directory}/encryption.yaml`, 'encryption-configuration', identity, {
        ...own,
        restart: false,
      }),
      textFile(`${directory}/authentication.yaml`, authenticationConfiguration, own),
      textFile(`${directory}/admission.yaml`, admissionConfiguration(cluster.spec.security.podSecurity), own),
      textFile(`${directory}/audit-policy.yaml`, auditPolicy(scene), own),
    ],
    certificates: certificates(scene),
    service: systemdService(
      {
        name,
        description: 'Kubernetes API server',
        after: ['etcd'],
        type: 'notify',
        user: name,
        command: [`${program.directory}/${name}`, ...flags(args(scene))],
        memoryFloor: memoryFloor(name),
        settings: [
          ['TimeoutStopSec', String(shutdownDelay + requestTimeout + watchGrace + 10)],
          ...confined(log),
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
      local({
        name: 'livez',
        // Without etcd it can do nothing, and a restart brings none back.
        check: { kind: 'http', url: `${itself}/livez?exclude=etcd`, authority: `${directory}/ca.crt` },
        // Under load it may be slow, and would be slower still after a restart.
        timeout: 10_000,
        failures: 6,
      }),
      remote({
        name: 'readyz',
        check: { kind: 'http', url: `${itself}/readyz`, authority: `${directory}/ca.crt` },
      }),
    ],
  })
}

function args(scene: LinuxScene): Args {
  const { cluster, address, topology } = scene
  const { api, network, security, components } = cluster.spec
  const [services = ''] = network.services
  const theirs = components.apiServer.args
  return mergeArgs(
    {
      'advertise-address': address,
      // Networks and storage need such pods; who may make them is decided by Pod Security.
      'allow-privileged': 'true',
      'secure-port': String(api.port),
      // Flags of OIDC and our file exclude each other; without the file RBAC alone limits who is anonymous.
      ...(Object.keys(theirs).some((flag) => flag.startsWith('oidc-'))
        ? {}
        : { 'authentication-config': `${directory}/authentication.yaml` }),
      'authorization-mode': 'Node,RBAC',
      'enable-admission-plugins': 'NodeRestriction',
      'admission-control-config-file': `${directory}/admission.yaml`,
      'client-ca-file': `${directory}/ca.crt`,
      'tls-cert-file': `${directory}/server.crt`,
      'tls-private-key-file': `${directory}/server.key`,
      'tls-min-version': 'VersionTLS12',
      'tls-cipher-suites': ciphers.join(','),
      'etcd-servers': etcdServers(scene).join(','),
      'etcd-cafile': `${directory}/etcd-ca.crt`,
      'etcd-certfile': `${directory}/etcd-client.crt`,
      'etcd-keyfile': `${directory}/etcd-client.key`,
      'encryption-provider-config': `${directory}/encryption.yaml`,
      'encryption-provider-config-automatic-reload': 'true',
      'kubelet-certificate-authority': `${directory}/ca.crt`,
      'kubelet-client-certificate': `${directory}/kubelet-client.crt`,
      'kubelet-client-key': `${directory}/kubelet-client.key`,
      // Names of hosts mean something only to those who have them in their DNS.
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
      'service-cluster-ip-range': services,
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
      // Moves long connections to servers that came back; with one server there is nowhere to move to.
      ...(topology.controlPlanes.length > 1 ? { 'goaway-chance': '0.001' } : {}),
      profiling: 'false',
    },
    theirs,
  )
}

/** The member on this host alone, if there is one: when it fails, so does this server, and others are asked. */
function etcdServers(scene: LinuxScene): string[] {
  if (isEtcdMember(scene)) return ['https://127.0.0.1:2379']
  return scene.topology.etcd.map(({ address }) => `https://${address}:2379`)
}

function certificates(scene: LinuxScene): PlannedCertificate[] {
  const { host, address, cluster, topology } = scene
  const { api, network } = cluster.spec
  const service = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc']
  const endpoint = api.endpoint?.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
  const names = alternativeNames(
    ...service,
    `kubernetes.default.svc.${network.domain}`,
    'localhost',
    '127.0.0.1',
    host.name,
    host.address,
    address,
    topology.firstService,
    ...(endpoint === undefined ? [] : [endpoint]),
    ...api.sans,
  )
  const own = { owner: name, authority: 'kubernetes' } as const
  return [
    serverCertificate(scene, { ...own, path: `${directory}/server`, commonName: name }, names),
    clientCertificate(scene, {
      ...own,
      path: `${directory}/kubelet-client`,
      commonName: 'kube-apiserver-kubelet-client',
    }),
    clientCertificate(scene, {
      ...own,
      path: `${directory}/etcd-client`,
      authority: 'etcd',
      commonName: 'kube-apiserver-etcd-client',
    }),
    clientCertificate(scene, {
      ...own,
      path: `${directory}/front-proxy-client`,
      authority: 'front-proxy',
      commonName: 'front-proxy-client',
    }),
  ]
}
