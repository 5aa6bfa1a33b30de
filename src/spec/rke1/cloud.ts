import {
  dropKey,
  dropRule,
  forKeys,
  refuseKey,
  type KeyRule,
  type RuleTable,
  mapKey,
  unsupportedRule,
} from './rule.ts'

const name: KeyRule = ({ value }) => {
  if (value === 'none') return dropKey('none is what hyperkube does')
  if (value !== 'external' && value !== 'external-aws') {
    return refuseKey('Kubernetes has no cloud providers inside any more; install a controller of its own')
  }
  return mapKey(['spec', 'cloudProvider'], 'external', 'install its cloud controller manager yourself')
}

/** Rule for the maps of cloud providers. They contain credentials, so their content is never read. */
const settings = unsupportedRule('give it to the cloud controller manager that you install')

export const rke1CloudRules: RuleTable = {
  'cloud_provider.name': name,
  'cloud_provider.useInstanceMetadataHostname': dropRule('a host has the name that cluster.yml gives it'),
  ...forKeys(
    'cloud_provider.',
    [
      'awsCloudProvider',
      'azureCloudProvider',
      'openstackCloudProvider',
      'vsphereCloudProvider',
      'harvesterCloudProvider',
      'customCloudProvider',
    ],
    settings,
  ),
}
