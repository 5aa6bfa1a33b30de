import { drop, dropped, each, refuse, type Rule, type Table, take, unsupported } from './rule.ts'

const name: Rule = ({ value }) => {
  if (value === 'none') return drop('none is what hyperkube does')
  if (value !== 'external' && value !== 'external-aws') {
    return refuse('Kubernetes has no cloud providers inside any more; install a controller of its own')
  }
  return take(['spec', 'cloudProvider'], 'external', 'install its cloud controller manager yourself')
}

/** These maps hold credentials, and are therefore not looked into. */
const settings = unsupported('give it to the cloud controller manager that you install')

export const cloud: Table = {
  'cloud_provider.name': name,
  'cloud_provider.useInstanceMetadataHostname': dropped('a host has the name that cluster.yml gives it'),
  ...each(
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
