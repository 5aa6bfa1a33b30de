import { hasOtherThan, isEmpty, isNotEmpty, isOneOf } from './predicates.ts'
import { flagRule, type JudgedRule, type WeakeningSetting } from './setting.ts'

const flag = (name: string, rule: JudgedRule): WeakeningSetting => flagRule('kube-apiserver', name, rule)
const admissionFile = '/etc/hyperkube/kube-apiserver/admission.yaml'

function disabledPlugin(
  plugin: string,
  severity: 'error' | 'warning',
  consequence: string,
  hint = `keep ${plugin} enabled`,
): WeakeningSetting {
  return flag('disable-admission-plugins', {
    severity,
    weakens: isOneOf(plugin),
    weak: `Priority,${plugin}`,
    safe: 'Priority',
    consequence: `${plugin} is disabled: ${consequence}`,
    hint,
  })
}

/**
 * Rules for admission plugins of kube-apiserver: which plugins should stay enabled, and what happens without
 * them.
 */
export const admissionRules: readonly WeakeningSetting[] = [
  disabledPlugin('NodeRestriction', 'error', 'a kubelet could then change other nodes and their pods'),
  disabledPlugin(
    'PodSecurity',
    'error',
    'spec.security.podSecurity then has no effect',
    'spec.security.podSecurity: privileged',
  ),
  disabledPlugin(
    'ValidatingAdmissionPolicy',
    'error',
    'flannel of one node could then change other nodes, and your policies have no effect',
  ),
  disabledPlugin('ServiceAccount', 'error', 'pods then get no token, and may name secrets of other accounts'),
  disabledPlugin(
    'CertificateApproval',
    'error',
    'clients that may approve certificates could then approve those of every signer',
  ),
  disabledPlugin(
    'CertificateSigning',
    'error',
    'clients that may sign certificates could then sign those of every signer',
  ),
  disabledPlugin(
    'CertificateSubjectRestriction',
    'error',
    'requests could then obtain a certificate of the group system:masters',
  ),
  disabledPlugin(
    'ValidatingAdmissionWebhook',
    'warning',
    'policies that your webhooks enforce then have no effect',
  ),
  disabledPlugin(
    'MutatingAdmissionWebhook',
    'warning',
    'protections that your webhooks add to objects are then missing',
  ),
  disabledPlugin(
    'DenyServiceExternalIPs',
    'warning',
    'a user who may create Services can then receive the traffic of all nodes to any address',
    'use Services of the type LoadBalancer or NodePort',
  ),
  disabledPlugin('ResourceQuota', 'warning', 'one namespace can then use all resources of the cluster'),
  disabledPlugin('LimitRanger', 'warning', 'limits of a namespace then do not apply to its pods'),
  disabledPlugin(
    'NamespaceLifecycle',
    'warning',
    'objects can then be created in a namespace during its removal',
  ),
  flag('enable-admission-plugins', {
    severity: 'error',
    weakens: isOneOf('AlwaysAdmit'),
    weak: 'AlwaysAdmit',
    safe: 'AlwaysPullImages',
    consequence: 'AlwaysAdmit is a deprecated plugin that checks nothing and suggests that admission is off',
    hint: 'remove AlwaysAdmit',
  }),
  flag('admission-control', {
    severity: 'error',
    weakens: isNotEmpty,
    weak: 'NamespaceLifecycle',
    safe: '',
    consequence: 'this deprecated list replaces all other plugins, also NodeRestriction and PodSecurity',
    hint: 'use enable-admission-plugins',
  }),
  flag('admission-control-config-file', {
    severity: 'error',
    weakens: isEmpty,
    weak: '',
    safe: admissionFile,
    consequence: 'without the file all namespaces without a label accept privileged pods',
    hint: 'remove it, or set spec.security.podSecurity: privileged',
  }),
  flag('admission-control-config-file', {
    severity: 'warning',
    weakens: hasOtherThan(admissionFile),
    weak: '/etc/mine/admission.yaml',
    safe: admissionFile,
    consequence: 'this file replaces the one of hyperkube, so spec.security.podSecurity has no effect',
    hint: 'configure PodSecurity in the file',
  }),
]
