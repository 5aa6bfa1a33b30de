# Stand-ins for the Windows commands that host.ps1 runs and that neither PowerShell 7 nor Wine has. With them, the script can run
# to its end. They keep their state in memory, and were not compared with a real Windows. Parameters of commands for adapters,
# addresses, routes, listeners, the firewall and features follow Microsoft's documentation for Windows Server 2022, as far as
# host.ps1 uses them. Everything else, such as the properties of objects, follows general knowledge of Windows.
#
# Services, processes and the registry are those of Wine. Access rights of files are simulated, because Wine does not store them.
# Dependencies of services are read from the registry, because Wine stores them there but does not report them.

Add-Type -TypeDefinition @'
using System;
using System.ComponentModel;
using System.Runtime.InteropServices;

namespace Hyperkube {
    // Replaces the class that the script declares with vmcompute.dll.
    public static class Hns {
        public static Func<string, string, string, string> Handler;
        public static void HNSCall(string method, string path, string request, out string response) {
            response = Handler(method, path, request);
        }
    }

    // The service manager, source of Win32_Service. An open handle prevents the deletion of a service.
    public static class Manager {
        [DllImport("advapi32.dll", SetLastError = true, CharSet = CharSet.Unicode)]
        static extern bool ChangeServiceConfigW(SafeHandle service, uint type, uint start, uint error, string path, string group, IntPtr tag, string dependencies, string user, string password, string shown);
        [DllImport("advapi32.dll", SetLastError = true)]
        static extern bool QueryServiceStatusEx(SafeHandle service, int level, int[] status, int size, out int needed);

        public static void Change(SafeHandle service, string path, int start, string[] dependencies) {
            string list = dependencies == null ? null : String.Join("\0", dependencies) + "\0\0";
            using (service) {
                if (!ChangeServiceConfigW(service, 0xffffffff, (uint) start, 0xffffffff, path, null, IntPtr.Zero, list, null, null, null)) throw new Win32Exception();
            }
        }
        // SERVICE_STATUS_PROCESS
        public static int[] Status(SafeHandle service) {
            int[] status = new int[9];
            int needed;
            using (service) {
                if (!QueryServiceStatusEx(service, 0, status, 36, out needed)) throw new Win32Exception();
            }
            return status;
        }
    }
}

namespace Microsoft.PowerShell.Cmdletization.GeneratedTypes.NetSecurity {
    public enum Enabled : ushort { True = 1, False = 2 }
    public enum Direction : ushort { Inbound = 1, Outbound = 2 }
    public enum Action : ushort { NotConfigured = 0, Allow = 2, Block = 4 }
}
'@

$standIn = @{
    Keys = 'HKLM:\SYSTEM\CurrentControlSet\Services\'
    Failure = @{}
    Access = @{}
    Rules = [ordered] @{}
    Routes = New-Object System.Collections.ArrayList
    Networks = New-Object System.Collections.ArrayList
    Endpoints = New-Object System.Collections.ArrayList
    PolicyLists = New-Object System.Collections.ArrayList
}

function New-StandInObject([string] $class, $properties) {
    $made = [pscustomobject] $properties
    $made.PSObject.TypeNames.Insert(0, 'Microsoft.Management.Infrastructure.CimInstance#' + $class)
    $made
}

# Throws for an object of another class, because a real parameter of type CimInstance accepts only its own
# class.
function Assert-StandInClass([string] $class, $objects) {
    foreach ($one in $objects) {
        if ($one.PSObject.TypeNames[0] -ne 'Microsoft.Management.Infrastructure.CimInstance#' + $class) { throw ('this is not a ' + $class) }
    }
}

# --- CIM

function Get-StandInService {
    foreach ($controller in Microsoft.PowerShell.Management\Get-Service) {
        # Some services of Wine have no registry key.
        $key = Get-ItemProperty -LiteralPath ($standIn.Keys + $controller.Name) -ErrorAction SilentlyContinue
        if ($null -eq $key) { continue }
        $status = [Hyperkube.Manager]::Status($controller.ServiceHandle)
        New-StandInObject 'root/cimv2/Win32_Service' @{
            Name = [string] $controller.Name
            State = @('Stopped', 'Start Pending', 'Stop Pending', 'Running', 'Continue Pending', 'Pause Pending', 'Paused')[$status[1] - 1]
            StartMode = @('Boot', 'System', 'Auto', 'Manual', 'Disabled')[$key.Start]
            ProcessId = [uint32] $status[7]
            ExitCode = [uint32] $status[3]
            PathName = [string] $key.ImagePath
            Description = $key.Description
        }
    }
}

function Get-StandInProcess {
    foreach ($process in Get-Process) {
        New-StandInObject 'root/cimv2/Win32_Process' @{
            ProcessId = [uint32] $process.Id
            ParentProcessId = [uint32] $process.Parent.Id
            ExecutablePath = $process.Path
            CreationDate = [DateTime] $process.StartTime
        }
    }
}

function Get-CimInstance {
    [CmdletBinding()]
    param([Parameter(Mandatory, Position = 0)] [string] $ClassName)
    switch ($ClassName) {
        'Win32_Service' { Get-StandInService }
        'Win32_Process' { Get-StandInProcess }
        'Win32_OperatingSystem' {
            $booted = [DateTime]::Now.AddMilliseconds(-[Environment]::TickCount64)
            New-StandInObject 'root/cimv2/Win32_OperatingSystem' @{ LastBootUpTime = $booted }
        }
        default { throw ('Invalid class ' + $ClassName) }
    }
}

function Invoke-CimMethod {
    [CmdletBinding(SupportsShouldProcess)]
    param(
        [Parameter(Mandatory, ValueFromPipeline)] [psobject] $InputObject,
        [Parameter(Mandatory)] [string] $MethodName,
        [System.Collections.IDictionary] $Arguments
    )
    Assert-StandInClass 'root/cimv2/Win32_Service' $InputObject
    switch ($MethodName) {
        'Change' {
            $known = 'DisplayName', 'PathName', 'ServiceType', 'ErrorControl', 'StartMode', 'DesktopInteract', 'StartName', 'StartPassword', 'LoadOrderGroup', 'LoadOrderGroupDependencies', 'ServiceDependencies'
            foreach ($name in $Arguments.Keys) { if ($known -notcontains $name) { throw ('Invalid parameter ' + $name) } }
            if ($Arguments.PathName -isnot [string] -or $Arguments.ServiceDependencies -isnot [string[]]) { throw 'Type mismatch' }
            $start = [array]::IndexOf(@('Boot', 'System', 'Automatic', 'Manual', 'Disabled'), $Arguments.StartMode)
            if ($start -lt 0) { return [pscustomobject] @{ ReturnValue = [uint32] 21 } }
            $controller = Microsoft.PowerShell.Management\Get-Service -Name $InputObject.Name
            [Hyperkube.Manager]::Change($controller.ServiceHandle, $Arguments.PathName, $start, $Arguments.ServiceDependencies)
        }
        'Delete' { Remove-Service -Name $InputObject.Name }
        default { throw ('Invalid method ' + $MethodName) }
    }
    [pscustomobject] @{ ReturnValue = [uint32] 0 }
}

# --- services: data that Wine does not report

function Get-Service {
    [CmdletBinding()]
    param([Parameter(Mandatory, Position = 0)] [string[]] $Name)
    foreach ($controller in Microsoft.PowerShell.Management\Get-Service -Name $Name) {
        $key = Get-ItemProperty -LiteralPath ($standIn.Keys + $controller.Name)
        $depends = @($key.DependOnService | Where-Object { $_ } | ForEach-Object { Microsoft.PowerShell.Management\Get-Service -Name $_ })
        Add-Member -InputObject $controller -MemberType NoteProperty -Name ServicesDependedOn -Value $depends -Force -PassThru
    }
}

# Replaces Wine's sc.exe, which does not know the subcommand failureflag.
function sc.exe {
    $verb, $name, $rest = $args
    $global:LASTEXITCODE = 1639
    $known = $null -ne (Microsoft.PowerShell.Management\Get-Service -Name $name -ErrorAction SilentlyContinue)
    if ($verb -eq 'failure' -and $rest.Count -eq 4 -and $rest[0] -eq 'reset=' -and $rest[1] -match '^\d+$' -and $rest[2] -eq 'actions=' -and $rest[3] -match '^(restart/\d+(/|$))+$') {
        $standIn.Failure[$name] = $rest[3]
        $global:LASTEXITCODE = 0
    }
    if ($verb -eq 'failureflag' -and $rest.Count -eq 1 -and $rest[0] -match '^[01]$') { $global:LASTEXITCODE = 0 }
    if (-not $known) { $global:LASTEXITCODE = 1060 }
    '[SC] ' + $global:LASTEXITCODE
}

# --- access control

# This module adds the property Sddl to access control objects.
Import-Module Microsoft.PowerShell.Security

function Get-StandInAccess([string] $path) {
    if ($standIn.Access.ContainsKey($path)) { return $standIn.Access[$path] }
    if (Test-Path -LiteralPath $path -PathType Container) { return 'O:BAG:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;BU)' }
    'O:BAG:BAD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)'
}

function Get-Acl {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $LiteralPath)
    $access = New-Object System.Security.AccessControl.FileSecurity
    if (Test-Path -LiteralPath $LiteralPath -PathType Container) { $access = New-Object System.Security.AccessControl.DirectorySecurity }
    $access.SetSecurityDescriptorSddlForm((Get-StandInAccess $LiteralPath))
    $access
}

function Set-Acl {
    [CmdletBinding(SupportsShouldProcess)]
    param([Parameter(Mandatory)] [string] $LiteralPath, [Parameter(Mandatory)] [psobject] $AclObject)
    if ($AclObject -isnot [System.Security.AccessControl.FileSystemSecurity]) { throw 'this is not a FileSystemSecurity' }
    $form = $AclObject.GetSecurityDescriptorSddlForm('All')
    # Without protection, the file inherits the rules of its directory.
    if (-not $AclObject.AreAccessRulesProtected) {
        $above = [regex]::Matches((Get-StandInAccess (Split-Path -LiteralPath $LiteralPath)), '\(A;OICI;([^)]*)\)')
        $form = ($form -replace '\([^)]*;[A-Z]*ID[A-Z]*;[^)]*\)', '') + -join ($above | ForEach-Object { '(A;ID;' + $_.Groups[1].Value + ')' })
    }
    $standIn.Access[$LiteralPath] = $form
}

# --- the system

function Get-WindowsFeature {
    [CmdletBinding()]
    param([Parameter(Position = 0)] [string[]] $Name)
    foreach ($one in 'Containers', 'Hyper-V', 'Web-Server') {
        if ($Name -contains $one) { [pscustomobject] @{ Name = $one; DisplayName = $one; Installed = [bool] ($one -eq 'Containers') } }
    }
}

# --- HNS, with objects copied from real hosts

foreach ($one in @(
        '{"Flags":0,"ID":"9DD95ECE-3B9B-417B-9F43-7B58F5B390D1","IPv6":false,"ManagementIP":"10.7.0.25","Name":"External","NetworkAdapterName":"Ethernet","Policies":[],"State":1,"Subnets":[{"AddressPrefix":"192.168.255.0/30","GatewayAddress":"192.168.255.1","ObjectType":5,"Policies":[{"Type":"VSID","VSID":9999}]}],"Type":"Overlay"}',
        '{"CurrentEndpointCount":1,"Flags":8,"ID":"55FEDB88-4B11-4DA4-8CD1-59970718A804","IPv6":false,"Name":"nat","Policies":[{"Type":"VLAN","VLAN":1}],"State":1,"Subnets":[{"AddressPrefix":"172.29.144.0/20","GatewayAddress":"172.29.144.1","ObjectType":5}],"Type":"nat"}')) {
    [void] $standIn.Networks.Add((ConvertFrom-Json -InputObject $one))
}
[void] $standIn.Endpoints.Add((ConvertFrom-Json -InputObject '{"ID":"b799ce1e-da48-480d-b2eb-c13436cf5653","Name":"Ethernet","VirtualNetwork":"9DD95ECE-3B9B-417B-9F43-7B58F5B390D1","VirtualNetworkName":"External","Policies":[{"Type":"L2Driver"}],"MacAddress":"00:11:22:33:44:55","IPAddress":"10.190.178.37","IsRemoteEndpoint":true}'))
[void] $standIn.PolicyLists.Add((ConvertFrom-Json -InputObject '{"Flags":0,"ID":"D680D0E7-185B-46A7-B097-37A8B439F588","IsApplied":false,"Policies":[{"ExternalPort":55680,"InternalPort":55680,"IsDSR":true,"Protocol":6,"SourceVIP":"10.244.178.2","Type":"ELB"}],"References":["/endpoints/b799ce1e-da48-480d-b2eb-c13436cf5653"],"State":2}'))

[Hyperkube.Hns]::Handler = {
    param([string] $method, [string] $path, [string] $request)
    $nothing, $kind, $id = $path.Split('/')
    $all = $standIn[$kind]
    $result = @{ Success = $true; Output = @($all) }
    $same = $all | Where-Object { $_.ID -eq $id }
    if ($null -eq $all) { $result = @{ Success = $false; Error = 'Invalid JSON document string. ' } }
    elseif ($method -eq 'POST') {
        $made = ConvertFrom-Json -InputObject $request
        Add-Member -InputObject $made -MemberType NoteProperty -Name ID -Value ([guid]::NewGuid().ToString().ToUpperInvariant())
        [void] $all.Add($made)
        $result.Output = $made
    } elseif ($id -and $null -eq $same) { $result = @{ Success = $false; Error = 'Element not found. ' } }
    elseif ($method -eq 'DELETE') {
        $all.Remove($same)
        $result.Output = @{}
    }
    ConvertTo-Json -InputObject $result -Compress -Depth 20
}

function Get-HnsNetwork {
    [CmdletBinding()]
    param([string] $Id, [switch] $Detailed, [int] $Version)
    $standIn.Networks
}

function Get-HnsEndpoint {
    [CmdletBinding()]
    param([string] $Id, [switch] $Detailed, [int] $Version)
    $standIn.Endpoints
}

# --- adapters, addresses, routes, listeners

function Get-NetAdapter {
    [CmdletBinding()]
    param([Parameter(Position = 0)] [string[]] $Name, [uint32[]] $InterfaceIndex, [switch] $IncludeHidden, [switch] $Physical)
    New-StandInObject 'ROOT/StandardCimv2/MSFT_NetAdapter' @{ Name = 'Ethernet'; InterfaceIndex = [uint32] 6; Status = 'Up'; MacAddress = '00-15-5D-00-04-01'; Virtual = $false }
    New-StandInObject 'ROOT/StandardCimv2/MSFT_NetAdapter' @{ Name = 'vEthernet (nat)'; InterfaceIndex = [uint32] 21; Status = 'Up'; MacAddress = '00-15-5D-EB-40-00'; Virtual = $true }
    New-StandInObject 'ROOT/StandardCimv2/MSFT_NetAdapter' @{ Name = 'Ethernet 2'; InterfaceIndex = [uint32] 9; Status = 'Disconnected'; MacAddress = $null; Virtual = $false }
}

function Get-NetIPAddress {
    [CmdletBinding()]
    param([ValidateSet('IPv4', 'IPv6')] [string[]] $AddressFamily, [uint32[]] $InterfaceIndex, [string[]] $InterfaceAlias)
    New-StandInObject 'ROOT/StandardCimv2/MSFT_NetIPAddress' @{ IPAddress = '10.7.0.25'; PrefixLength = [byte] 24; InterfaceIndex = [uint32] 6 }
    New-StandInObject 'ROOT/StandardCimv2/MSFT_NetIPAddress' @{ IPAddress = '172.29.144.1'; PrefixLength = [byte] 20; InterfaceIndex = [uint32] 21 }
    New-StandInObject 'ROOT/StandardCimv2/MSFT_NetIPAddress' @{ IPAddress = '127.0.0.1'; PrefixLength = [byte] 8; InterfaceIndex = [uint32] 1 }
}

function Get-NetRoute {
    [CmdletBinding()]
    param([ValidateSet('IPv4', 'IPv6')] [string[]] $AddressFamily, [Parameter(Position = 0)] [string[]] $DestinationPrefix, [uint32[]] $InterfaceIndex, [string] $PolicyStore)
    $standIn.Routes.ToArray()
}

function New-NetRoute {
    [CmdletBinding(SupportsShouldProcess, ConfirmImpact = 'Medium')]
    param(
        [Parameter(Mandatory, Position = 0)] [string] $DestinationPrefix,
        [Parameter(Mandatory)] [uint32] $InterfaceIndex,
        [string] $NextHop = '0.0.0.0',
        [uint16] $RouteMetric = 256,
        [ValidateSet('ActiveStore')] [string] $PolicyStore
    )
    foreach ($one in $standIn.Routes) {
        if ($one.DestinationPrefix -eq $DestinationPrefix -and $one.InterfaceIndex -eq $InterfaceIndex -and $one.NextHop -eq $NextHop) { throw 'Instance MSFT_NetRoute already exists' }
    }
    $made = New-StandInObject 'ROOT/StandardCimv2/MSFT_NetRoute' @{ DestinationPrefix = $DestinationPrefix; InterfaceIndex = $InterfaceIndex; NextHop = $NextHop; RouteMetric = $RouteMetric }
    [void] $standIn.Routes.Add($made)
    $made
}

# Like the real command, prompts for confirmation by default. A caller that does not disable the prompt would hang.
function Remove-NetRoute {
    [CmdletBinding(SupportsShouldProcess, ConfirmImpact = 'High')]
    param([Parameter(Mandatory, ValueFromPipeline)] [psobject[]] $InputObject)
    Assert-StandInClass 'ROOT/StandardCimv2/MSFT_NetRoute' $InputObject
    foreach ($one in $InputObject) { if ($PSCmdlet.ShouldProcess($one.DestinationPrefix)) { $standIn.Routes.Remove($one) } }
}

[void] (New-NetRoute -DestinationPrefix '0.0.0.0/0' -InterfaceIndex 6 -NextHop '10.7.0.1' -RouteMetric 0)
[void] (New-NetRoute -DestinationPrefix '172.29.144.0/20' -InterfaceIndex 21)

function Get-NetTCPConnection {
    [CmdletBinding()]
    param([ValidateSet('Closed', 'Listen', 'SynSent', 'SynReceived', 'Established', 'FinWait1', 'FinWait2', 'CloseWait', 'Closing', 'LastAck', 'TimeWait', 'DeleteTCB', 'Bound')] [string[]] $State, [uint16[]] $LocalPort)
    New-StandInObject 'ROOT/StandardCimv2/MSFT_NetTCPConnection' @{ LocalAddress = '0.0.0.0'; LocalPort = [uint16] 22; OwningProcess = [uint32] 2044 }
    New-StandInObject 'ROOT/StandardCimv2/MSFT_NetTCPConnection' @{ LocalAddress = '::'; LocalPort = [uint16] 22; OwningProcess = [uint32] 2044 }
}

# --- the firewall

function New-NetFirewallRule {
    [CmdletBinding(SupportsShouldProcess, ConfirmImpact = 'Medium')]
    param(
        [string] $Name = [guid]::NewGuid().ToString(),
        [Parameter(Mandatory)] [string] $DisplayName,
        [string] $Group,
        [Microsoft.PowerShell.Cmdletization.GeneratedTypes.NetSecurity.Direction] $Direction = 'Inbound',
        [Microsoft.PowerShell.Cmdletization.GeneratedTypes.NetSecurity.Action] $Action = 'Allow',
        [string] $Protocol = 'Any',
        [string[]] $LocalPort = 'Any',
        [ValidateSet('Any', 'Domain', 'Private', 'Public', 'NotApplicable')] [string] $Profile
    )
    if ($standIn.Rules.Contains($Name)) { throw 'Cannot create a file when that file already exists.' }
    $made = New-StandInObject 'root/standardcimv2/MSFT_NetFirewallRule' @{
        Name = $Name
        DisplayName = $DisplayName
        Group = $Group
        Enabled = [Microsoft.PowerShell.Cmdletization.GeneratedTypes.NetSecurity.Enabled]::True
        Direction = $Direction
        Action = $Action
    }
    # One port is returned as a string, several as an array.
    $ports = $LocalPort
    if ($LocalPort.Count -eq 1) { $ports = $LocalPort[0] }
    $filter = New-StandInObject 'root/standardcimv2/MSFT_NetProtocolPortFilter' @{ Protocol = $Protocol.ToUpperInvariant(); LocalPort = $ports }
    $standIn.Rules[$Name] = @{ Rule = $made; Filter = $filter }
    $made
}

function Get-NetFirewallRule {
    [CmdletBinding()]
    param([Parameter(Position = 0)] [string[]] $Name, [string[]] $DisplayName, [string[]] $Group, [string] $PolicyStore)
    $found = @($standIn.Rules.Values | ForEach-Object { $_.Rule } | Where-Object { $null -eq $Group -or $Group -contains $_.Group })
    if ($found.Count -eq 0) { Write-Error ('No MSFT_NetFirewallRule objects found with property ''Group'' equal to ''' + $Group + '''.') }
    $found
}

function Remove-NetFirewallRule {
    [CmdletBinding(SupportsShouldProcess, ConfirmImpact = 'Medium')]
    param([Parameter(Mandatory, ValueFromPipeline)] [psobject[]] $InputObject)
    Assert-StandInClass 'root/standardcimv2/MSFT_NetFirewallRule' $InputObject
    foreach ($one in $InputObject) { $standIn.Rules.Remove($one.Name) }
}

function Get-NetFirewallPortFilter {
    [CmdletBinding()]
    param([Parameter(ValueFromPipeline)] [psobject] $AssociatedNetFirewallRule)
    Assert-StandInClass 'root/standardcimv2/MSFT_NetFirewallRule' $AssociatedNetFirewallRule
    $standIn.Rules[$AssociatedNetFirewallRule.Name].Filter
}

[void] (New-NetFirewallRule -Name 'OpenSSH-Server-In-TCP' -DisplayName 'OpenSSH SSH Server (sshd)' -Group 'OpenSSH Server' -Protocol TCP -LocalPort 22)
