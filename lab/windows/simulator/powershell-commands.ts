/** Documentation of a Windows command. */
export interface PowerShellCommand {
  /** Path on learn.microsoft.com, or the source repository that documents the command. */
  readonly documented: string
  /** Output of the command. Only the properties that are named here are read. */
  readonly gives: string
}

/**
 * All commands that host.ps1 may run on a host. A new command needs a row here, so it is reviewed. Commands
 * that only process values are in `plumbing`.
 */
export const powershellCommands: Readonly<Record<string, PowerShellCommand>> = {
  'Get-CimInstance': {
    documented: 'powershell/module/cimcmdlets/get-ciminstance',
    gives:
      'instances of a class. Win32_Service: Name, State, StartMode, PathName, Description (strings), ProcessId, ExitCode (uint32). Win32_Process: ProcessId, ParentProcessId (uint32), ExecutablePath (string, null where it may not be seen), CreationDate (DateTime). Win32_OperatingSystem: LastBootUpTime (DateTime).',
  },
  'Invoke-CimMethod': {
    documented: 'windows/win32/cimwin32prov/win32-service: Change, Delete',
    gives: 'an object with ReturnValue (uint32): 0 is well; 16 of Delete is marked for deletion.',
  },
  'Get-Service': {
    documented: 'powershell/module/microsoft.powershell.management/get-service',
    gives:
      'a ServiceController: ServicesDependedOn (controllers, of which Name), Status (enumeration), and its methods Start and Stop, which do not wait for the service itself.',
  },
  'New-Service': {
    documented: 'powershell/module/microsoft.powershell.management/new-service',
    gives: 'a ServiceController, of which nothing is read.',
  },
  'sc.exe': {
    documented: 'windows-server/administration/windows-commands/sc-failure',
    gives: 'text in the language of the host, of which nothing is read; its exit code is 0 when it is well.',
  },
  'Get-ItemProperty': {
    documented: 'powershell/module/microsoft.powershell.management/get-itemproperty',
    gives:
      'an object with the values of a key of the registry. Services\\NAME: Environment (string[], missing when none was set). CurrentVersion: CurrentBuildNumber, EditionID, InstallationType (strings), UBR (int). Cryptography: MachineGuid (string).',
  },
  'Set-ItemProperty': {
    documented: 'powershell/module/microsoft.powershell.management/set-itemproperty',
    gives: 'nothing.',
  },
  'Get-HnsNetwork': {
    documented:
      'the module HostNetworkingService, in Windows since Server 2019; github.com/microsoft/SDN, hns.psm1',
    gives:
      'objects as HNS itself writes them: ID, Name, Type, ManagementIP, NetworkAdapterName (strings, the last two missing for some types), Subnets (objects with AddressPrefix and GatewayAddress).',
  },
  'Get-HnsEndpoint': {
    documented:
      'the module HostNetworkingService, in Windows since Server 2019; github.com/microsoft/SDN, hns.psm1',
    gives:
      'objects as HNS itself writes them: ID, Name, VirtualNetwork, IPAddress (strings), IsRemoteEndpoint (missing unless true).',
  },
  HNSCall: {
    documented: 'vmcompute.dll; github.com/microsoft/SDN, hns.psm1, Invoke-HnsRequest',
    gives:
      'text in JSON: Success (boolean), Output (of GET /policylists: objects with ID, References (strings), Policies (objects with Type, SourceVIP)), Error (string, when it failed).',
  },
  'Get-NetAdapter': {
    documented: 'powershell/module/netadapter/get-netadapter',
    gives: 'MSFT_NetAdapter: Name, Status, MacAddress (strings), InterfaceIndex (uint32), Virtual (boolean).',
  },
  'Get-NetIPAddress': {
    documented: 'powershell/module/nettcpip/get-netipaddress',
    gives: 'MSFT_NetIPAddress: IPAddress (string), PrefixLength (byte), InterfaceIndex (uint32).',
  },
  'Get-NetRoute': {
    documented: 'powershell/module/nettcpip/get-netroute',
    gives:
      'MSFT_NetRoute: DestinationPrefix, NextHop (strings), InterfaceIndex (uint32), RouteMetric (uint16).',
  },
  'New-NetRoute': {
    documented: 'powershell/module/nettcpip/new-netroute',
    gives: 'the route, of which nothing is read.',
  },
  'Remove-NetRoute': { documented: 'powershell/module/nettcpip/remove-netroute', gives: 'nothing.' },
  'Get-NetTCPConnection': {
    documented: 'powershell/module/nettcpip/get-nettcpconnection',
    gives: 'MSFT_NetTCPConnection: LocalPort (uint16), OwningProcess (uint32).',
  },
  'Get-NetFirewallRule': {
    documented: 'powershell/module/netsecurity/get-netfirewallrule',
    gives:
      'MSFT_NetFirewallRule: Name, Group (strings), Enabled, Direction, Action (enumerations, read by their names).',
  },
  'Get-NetFirewallPortFilter': {
    documented: 'powershell/module/netsecurity/get-netfirewallportfilter',
    gives: 'MSFT_NetProtocolPortFilter: Protocol (string), LocalPort (one string, or several).',
  },
  'New-NetFirewallRule': {
    documented: 'powershell/module/netsecurity/new-netfirewallrule',
    gives: 'the rule, of which nothing is read.',
  },
  'Remove-NetFirewallRule': {
    documented: 'powershell/module/netsecurity/remove-netfirewallrule',
    gives: 'nothing.',
  },
  '[Environment]::GetEnvironmentVariable': {
    documented: 'dotnet/api/system.environment.getenvironmentvariable',
    gives: 'a string, or null.',
  },
  '[Environment]::SetEnvironmentVariable': {
    documented: 'dotnet/api/system.environment.setenvironmentvariable',
    gives: 'nothing.',
  },
  'Stop-Process': {
    documented: 'powershell/module/microsoft.powershell.management/stop-process',
    gives: 'nothing.',
  },
  'Get-Item': {
    documented: 'powershell/module/microsoft.powershell.management/get-item',
    gives:
      'FileInfo or DirectoryInfo: PSIsContainer (boolean), Length (long, of files), LastWriteTimeUtc (DateTime).',
  },
  'Test-Path': {
    documented: 'powershell/module/microsoft.powershell.management/test-path',
    gives: 'a boolean.',
  },
  'Get-FileHash': {
    documented: 'powershell/module/microsoft.powershell.utility/get-filehash',
    gives: 'an object with Hash (64 hexadecimal digits, in capitals).',
  },
  '[IO.File]::ReadAllText': { documented: 'dotnet/api/system.io.file.readalltext', gives: 'a string.' },
  '[IO.File]::WriteAllText': { documented: 'dotnet/api/system.io.file.writealltext', gives: 'nothing.' },
  '[IO.File]::Replace': { documented: 'dotnet/api/system.io.file.replace', gives: 'nothing.' },
  '[IO.File]::Move': {
    documented: 'dotnet/api/system.io.file.move',
    gives: 'nothing; fails where something is already.',
  },
  '[IO.File]::Delete': { documented: 'dotnet/api/system.io.file.delete', gives: 'nothing.' },
  'Get-Acl': {
    documented: 'powershell/module/microsoft.powershell.security/get-acl',
    gives: 'FileSecurity or DirectorySecurity: Sddl (string), and the method SetSecurityDescriptorSddlForm.',
  },
  'Set-Acl': { documented: 'powershell/module/microsoft.powershell.security/set-acl', gives: 'nothing.' },
  'Get-WindowsFeature': {
    documented: 'powershell/module/servermanager/get-windowsfeature',
    gives: 'Features: Name (string), Installed (boolean).',
  },
}

/** Commands that only process values of host.ps1 itself. */
export const plumbing: readonly string[] = [
  'Where-Object',
  'ForEach-Object',
  'ConvertTo-Json',
  'ConvertFrom-Json',
  'New-Object',
  'Add-Type',
  'Remove-TypeData',
]
