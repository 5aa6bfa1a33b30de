/** Feature gates that a minor locked to a value. */
interface LockedGates {
  readonly on: readonly string[]
  readonly off?: readonly string[]
}

/**
 * Feature gates by the minor that locked them. A program of that minor or a newer one refuses to start with another
 * value. The source is the versioned features of Kubernetes 1.37.1; gates that 1.37 has removed are not listed.
 */
export const lockedFeatureGates: Readonly<Record<string, LockedGates>> = {
  '1.30': { on: ['PodSchedulingReadiness'] },
  '1.32': {
    on: [
      'CustomResourceFieldSelectors',
      'ServiceAccountTokenJTI',
      'ServiceAccountTokenNodeBindingValidation',
      'ServiceAccountTokenPodNodeInfo',
      'TopologyManagerPolicyOptions',
    ],
  },
  '1.33': {
    on: [
      'CPUManagerPolicyOptions',
      'CRDValidationRatcheting',
      'MatchLabelKeysInPodAffinity',
      'NFTablesProxyMode',
      'NodeInclusionPolicyInPodTopologySpread',
      'RecursiveReadOnlyMounts',
      'ServiceAccountTokenNodeBinding',
    ],
  },
  '1.34': {
    on: [
      'KubeletCgroupDriverFromCRI',
      'KubeletTracing',
      'MultiCIDRServiceAllocator',
      'NodeSwap',
      'RecoverVolumeExpansionFailure',
      'RelaxedEnvironmentVariableValidation',
      'SeparateTaintEvictionController',
      'WinDSR',
      'WinOverlay',
    ],
  },
  '1.35': {
    on: [
      'AggregatedDiscoveryRemoveBetaType',
      'DisableAllocatorDualWrite',
      'ExecProbeTimeout',
      'ImageMaximumGCAge',
      'InPlacePodVerticalScaling',
      'JobManagedBy',
      'PodObservedGenerationTracking',
      'PreferSameTrafficDistribution',
      'SupplementalGroupsPolicy',
      'SystemdWatchdog',
    ],
    off: ['AllowOverwriteTerminationGracePeriodSeconds'],
  },
  '1.36': {
    on: [
      'CSIServiceAccountTokenSecrets',
      'DRAAdminAccess',
      'DeclarativeValidation',
      'DisableNodeKubeProxyVersion',
      'ExternalServiceAccountTokenSigner',
      'ImageVolume',
      'InOrderInformers',
      'KubeletFineGrainedAuthz',
      'KubeletPSI',
      'KubeletPodResourcesDynamicResources',
      'KubeletPodResourcesGet',
      'MutableCSINodeAllocatableCount',
      'NodeLogQuery',
      'ProcMountType',
      'SELinuxChangePolicy',
      'SELinuxMountReadWriteOncePod',
      'UserNamespacesSupport',
      'VolumeAttributesClass',
    ],
    off: ['GitRepoVolumeDriver', 'SeparateCacheWatchRPC'],
  },
  '1.37': {
    on: [
      'DRADeviceTaintRules',
      'DRADeviceTaints',
      'DRAExtendedResource',
      'DRAResourceClaimDeviceStatus',
      'DisableCPUQuotaWithExclusiveCPUs',
      'HPAConfigurableTolerance',
      'HostnameOverride',
      'InPlacePodVerticalScalingInitContainers',
      'NodeDeclaredFeatures',
      'PLEGOnDemandRelist',
      'PodReadyToStartContainersCondition',
      'RelaxedServiceNameValidation',
      'WatchCacheInitializationPostStartHook',
    ],
    off: ['DeclarativeValidationTakeover'],
  },
}
