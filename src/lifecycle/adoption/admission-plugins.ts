/** Admission plugins that Kubernetes or hyperkube enables anyway. RKE1 lists most of them. */
const usualPlugins: ReadonlySet<string> = new Set([
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'ClusterTrustBundleAttest',
  'DefaultIngressClass',
  'DefaultStorageClass',
  'DefaultTolerationSeconds',
  'DenyServiceExternalIPs',
  'LimitRanger',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'NamespaceLifecycle',
  'NodeRestriction',
  'PersistentVolumeClaimResize',
  'PodSecurity',
  'PodTopologyLabels',
  'Priority',
  'ResourceQuota',
  'RuntimeClass',
  'ServiceAccount',
  'StorageObjectInUseProtection',
  'TaintNodesByCondition',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
])

/** Admission plugins that work without a configuration file. */
const keptPlugins: ReadonlySet<string> = new Set([
  'AlwaysPullImages',
  'ExtendedResourceToleration',
  'LimitPodHardAntiAffinityTopology',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'OwnerReferencesPermissionEnforcement',
  'PodNodeSelector',
  'PodTolerationRestriction',
])

/** Sorts the admission plugins of a list that are off by default: those that cluster.yml keeps, and the others. */
export function sortPlugins(list: string): { readonly kept: string; readonly lost: string } {
  const plugins = list.split(',').map((name) => name.trim())
  const unusual = plugins.filter((name) => name !== '' && !usualPlugins.has(name))
  return {
    kept: unusual.filter((name) => keptPlugins.has(name)).join(','),
    lost: unusual.filter((name) => !keptPlugins.has(name)).join(','),
  }
}

/**
 * True if API servers with these flags use a plugin. RKE1 always configures EventRateLimit, which it does not enable.
 */
export function isPluginEnabled(plugin: string, args: Readonly<Record<string, string>>): boolean {
  const has = (flag: string): boolean => (args[flag] ?? '').split(/[\s,]+/).includes(plugin)
  return !has('disable-admission-plugins') && (usualPlugins.has(plugin) || has('enable-admission-plugins'))
}
