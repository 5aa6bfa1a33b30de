# Everything that hyperkube does on a Windows host through PowerShell. The script is sent to one process of Windows
# PowerShell 5.1. The process then gets requests, each a line with JSON in base64, and writes one line of JSON for each.
#
# Rules for reviews:
# - Code is never built from the content of a request: values only go into parameters.
# - Every operation is declared in src/agent/host/windows-operations. Every command has a row in lab/windows/simulator/powershell-commands.ts.
# - Properties keep the names that Windows documents; nothing is renamed or interpreted here.
# - Only plain statements, so that a partial PowerShell parser can read the script.

$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$WarningPreference = 'SilentlyContinue'

# Without this line, some lists would become JSON objects with the properties Count and value.
Remove-TypeData -TypeName System.Array -ErrorAction SilentlyContinue

$servicesKey = 'HKLM:\SYSTEM\CurrentControlSet\Services'
$versionKey = 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
$rebootKey = 'HKLM:\SOFTWARE\Microsoft\Windows\CurrentVersion\Component Based Servicing\RebootPending'
$machineKey = 'HKLM:\SOFTWARE\Microsoft\Cryptography'
$utf8 = New-Object System.Text.UTF8Encoding($false)
$operations = @{}

function Get-Instant([DateTime] $time) { $time.ToUniversalTime().ToString('o') }

# Calls HNS directly, for requests that no Windows command supports.
function Invoke-Hns([string] $method, [string] $path, [string] $request) {
    if ($null -eq ('Hyperkube.Hns' -as [type])) {
        Add-Type -Namespace Hyperkube -Name Hns -MemberDefinition '[DllImport("vmcompute.dll")] public static extern void HNSCall([MarshalAs(UnmanagedType.LPWStr)] string method, [MarshalAs(UnmanagedType.LPWStr)] string path, [MarshalAs(UnmanagedType.LPWStr)] string request, [MarshalAs(UnmanagedType.LPWStr)] out string response);'
    }
    $response = ''
    [Hyperkube.Hns]::HNSCall($method, $path, $request, [ref] $response)
    $result = ConvertFrom-Json -InputObject $response
    if (-not $result.Success) { throw ('HNS: ' + [string] $result.Error) }
    $result.Output
}

function Assert-Zero([string] $what, $code) {
    if ($code -ne 0) { throw ($what + ' answered ' + [string] $code) }
}

$operations['services.list'] = {
    param($options)
    $found = Get-CimInstance -ClassName Win32_Service | Where-Object { $options.names -contains $_.Name }
    foreach ($service in $found) {
        $controller = Get-Service -Name $service.Name
        $settings = Get-ItemProperty -LiteralPath ($servicesKey + '\' + $service.Name)
        $depends = @($controller.ServicesDependedOn | ForEach-Object { $_.Name })
        $variables = @($settings.Environment | Where-Object { $_ })
        [pscustomobject] @{
            Name = $service.Name
            State = $service.State
            StartMode = $service.StartMode
            ProcessId = [int] $service.ProcessId
            ExitCode = [long] $service.ExitCode
            PathName = $service.PathName
            Description = $service.Description
            DependsOn = $depends
            Environment = $variables
        }
    }
}

$operations['services.put'] = {
    param($options)
    $service = Get-CimInstance -ClassName Win32_Service | Where-Object { $_.Name -eq $options.name }
    if ($null -eq $service) {
        $made = @{ Name = $options.name; BinaryPathName = $options.commandLine; StartupType = 'Automatic' }
        if (@($options.dependsOn).Length -gt 0) { $made.DependsOn = [string[]] $options.dependsOn }
        [void] (New-Service @made)
    } else {
        $changed = @{ PathName = [string] $options.commandLine; StartMode = 'Automatic' }
        $changed.ServiceDependencies = [string[]] @($options.dependsOn)
        $result = Invoke-CimMethod -InputObject $service -MethodName Change -Arguments $changed
        Assert-Zero 'Win32_Service.Change' $result.ReturnValue
    }
    $actions = @($options.restartAfter | ForEach-Object { 'restart/' + [string] [int] $_ }) -join '/'
    [void] (& sc.exe failure $options.name 'reset=' '900' 'actions=' $actions)
    Assert-Zero 'sc failure' $LASTEXITCODE
    # A program that exits with an error also counts as failed.
    [void] (& sc.exe failureflag $options.name '1')
    Assert-Zero 'sc failureflag' $LASTEXITCODE
    $key = $servicesKey + '\' + $options.name
    Set-ItemProperty -LiteralPath $key -Name Environment -Type MultiString -Value ([string[]] @($options.environment))
    Set-ItemProperty -LiteralPath $key -Name Description -Type String -Value ([string] $options.description)
}

$operations['services.start'] = {
    param($options)
    $controller = Get-Service -Name $options.name
    if ([string] $controller.Status -eq 'Stopped') { $controller.Start() }
}

$operations['services.stop'] = {
    param($options)
    $controller = Get-Service -Name $options.name
    if ([string] $controller.Status -ne 'Stopped') { $controller.Stop() }
}

$operations['services.remove'] = {
    param($options)
    $service = Get-CimInstance -ClassName Win32_Service | Where-Object { $_.Name -eq $options.name }
    if ($null -ne $service) {
        $result = Invoke-CimMethod -InputObject $service -MethodName Delete
        # 16: marked for deletion; the service is removed when its last handle is closed.
        if ($result.ReturnValue -ne 16) { Assert-Zero 'Win32_Service.Delete' $result.ReturnValue }
    }
}

$operations['networks.list'] = {
    param($options)
    Get-HnsNetwork
}

$operations['networks.create'] = {
    param($options)
    $policy = @{ Type = 'VSID'; VSID = [int] $options.vsid }
    $subnet = @{ AddressPrefix = $options.subnet; GatewayAddress = $options.gateway; Policies = @($policy) }
    $network = @{ Type = 'Overlay'; Name = $options.name; NetworkAdapterName = $options.adapter; Subnets = @($subnet) }
    # HNSCall
    [void] (Invoke-Hns 'POST' '/networks' (ConvertTo-Json -InputObject $network -Compress -Depth 20))
}

$operations['networks.remove'] = {
    param($options)
    # HNSCall
    [void] (Invoke-Hns 'DELETE' ('/networks/' + ([guid] $options.id).ToString()) '')
}

$operations['endpoints.list'] = {
    param($options)
    Get-HnsEndpoint
}

$operations['endpoints.remove'] = {
    param($options)
    # HNSCall
    [void] (Invoke-Hns 'DELETE' ('/endpoints/' + ([guid] $options.id).ToString()) '')
}

$operations['policies.list'] = {
    param($options)
    # HNSCall
    Invoke-Hns 'GET' '/policylists' ''
}

$operations['policies.remove'] = {
    param($options)
    # HNSCall
    [void] (Invoke-Hns 'DELETE' ('/policylists/' + ([guid] $options.id).ToString()) '')
}

$operations['adapters.list'] = {
    param($options)
    $addresses = @(Get-NetIPAddress -AddressFamily IPv4)
    foreach ($adapter in Get-NetAdapter) {
        $own = @($addresses | Where-Object { $_.InterfaceIndex -eq $adapter.InterfaceIndex } | ForEach-Object {
            [pscustomobject] @{ IPAddress = $_.IPAddress; PrefixLength = [int] $_.PrefixLength }
        })
        [pscustomobject] @{
            Name = $adapter.Name
            InterfaceIndex = [int] $adapter.InterfaceIndex
            Status = [string] $adapter.Status
            MacAddress = $adapter.MacAddress
            Virtual = [bool] $adapter.Virtual
            Addresses = $own
        }
    }
}

$operations['routes.list'] = {
    param($options)
    $found = Get-NetRoute -AddressFamily IPv4 | Where-Object { $options.destinations -contains $_.DestinationPrefix }
    foreach ($route in $found) {
        [pscustomobject] @{
            DestinationPrefix = $route.DestinationPrefix
            NextHop = $route.NextHop
            InterfaceIndex = [int] $route.InterfaceIndex
            RouteMetric = [int] $route.RouteMetric
        }
    }
}

$operations['routes.add'] = {
    param($options)
    $same = Get-NetRoute -AddressFamily IPv4 | Where-Object {
        $_.DestinationPrefix -eq $options.destination -and $_.InterfaceIndex -eq $options.interfaceIndex -and $_.NextHop -eq $options.nextHop
    }
    if ($null -eq $same) {
        [void] (New-NetRoute -DestinationPrefix $options.destination -NextHop $options.nextHop -InterfaceIndex $options.interfaceIndex -RouteMetric $options.metric -PolicyStore ActiveStore)
    }
}

$operations['routes.remove'] = {
    param($options)
    $same = Get-NetRoute -AddressFamily IPv4 | Where-Object {
        $_.DestinationPrefix -eq $options.destination -and $_.InterfaceIndex -eq $options.interfaceIndex -and $_.NextHop -eq $options.nextHop
    }
    if ($null -ne $same) { Remove-NetRoute -InputObject $same -Confirm:$false }
}

$operations['ports.list'] = {
    param($options)
    foreach ($listener in Get-NetTCPConnection -State Listen) {
        [pscustomobject] @{ LocalPort = [int] $listener.LocalPort; OwningProcess = [int] $listener.OwningProcess }
    }
}

$operations['firewall.list'] = {
    param($options)
    # The command fails if the group has no rules, so errors are ignored.
    foreach ($rule in Get-NetFirewallRule -Group $options.group -ErrorAction SilentlyContinue) {
        $filter = Get-NetFirewallPortFilter -AssociatedNetFirewallRule $rule
        [pscustomobject] @{
            Name = $rule.Name
            Group = $rule.Group
            Enabled = [string] $rule.Enabled
            Direction = [string] $rule.Direction
            Action = [string] $rule.Action
            Protocol = [string] $filter.Protocol
            LocalPort = @($filter.LocalPort | ForEach-Object { [string] $_ })
        }
    }
}

$operations['firewall.put'] = {
    param($options)
    $existing = Get-NetFirewallRule | Where-Object { $_.Name -eq $options.name }
    if ($null -ne $existing) {
        if ($existing.Group -ne $options.group) { throw ('the rule ' + $options.name + ' is of another group') }
        Remove-NetFirewallRule -InputObject $existing
    }
    [void] (New-NetFirewallRule -Name $options.name -DisplayName $options.name -Group $options.group -Direction Inbound -Action Allow -Protocol $options.protocol -LocalPort $options.ports -Profile Any)
}

$operations['firewall.remove'] = {
    param($options)
    $existing = Get-NetFirewallRule | Where-Object { $_.Name -eq $options.name -and $_.Group -eq $options.group }
    if ($null -ne $existing) { Remove-NetFirewallRule -InputObject $existing }
}

$operations['environment.get'] = {
    param($options)
    $value = [Environment]::GetEnvironmentVariable($options.name, 'Machine')
    if ($null -ne $value) { [pscustomobject] @{ Value = $value } }
}

$operations['environment.set'] = {
    param($options)
    # A plain null would become an empty string, and newer .NET versions would then not remove the variable.
    $value = [NullString]::Value
    if ($null -ne $options.value) { $value = [string] $options.value }
    [Environment]::SetEnvironmentVariable($options.name, $value, 'Machine')
}

$operations['processes.list'] = {
    param($options)
    $start = $options.below.TrimEnd('\') + '\'
    $found = Get-CimInstance -ClassName Win32_Process | Where-Object {
        $_.ExecutablePath -and $_.ExecutablePath.StartsWith($start, [StringComparison]::OrdinalIgnoreCase)
    }
    foreach ($process in $found) {
        [pscustomobject] @{
            ProcessId = [int] $process.ProcessId
            ParentProcessId = [int] $process.ParentProcessId
            ExecutablePath = $process.ExecutablePath
            CreationDate = Get-Instant $process.CreationDate
        }
    }
}

$operations['processes.end'] = {
    param($options)
    $process = Get-CimInstance -ClassName Win32_Process | Where-Object { $_.ProcessId -eq $options.id }
    if ($null -ne $process -and $process.ExecutablePath -eq $options.program) {
        if ((Get-Instant $process.CreationDate) -eq (Get-Instant $options.startedAt)) { Stop-Process -Id $options.id -Force }
    }
}

$operations['files.stat'] = {
    param($options)
    $item = Get-Item -LiteralPath $options.path -Force -ErrorAction SilentlyContinue
    if ($null -ne $item) {
        $kind = 'file'
        $size = 0
        if ($item.PSIsContainer) { $kind = 'directory' } else { $size = [long] $item.Length }
        [pscustomobject] @{ Kind = $kind; Length = $size; LastWriteTimeUtc = Get-Instant $item.LastWriteTimeUtc }
    }
}

$operations['files.digest'] = {
    param($options)
    if (Test-Path -LiteralPath $options.path -PathType Leaf) {
        $hash = Get-FileHash -LiteralPath $options.path -Algorithm SHA256
        [pscustomobject] @{ Hash = $hash.Hash }
    }
}

$operations['files.read'] = {
    param($options)
    if (Test-Path -LiteralPath $options.path -PathType Leaf) {
        [pscustomobject] @{ Text = [IO.File]::ReadAllText($options.path, $utf8) }
    }
}

$operations['files.write'] = {
    param($options)
    $whole = $options.path + '.hyperkube-tmp'
    [IO.File]::WriteAllText($whole, $options.text, $utf8)
    if (Test-Path -LiteralPath $options.path) {
        [IO.File]::Replace($whole, $options.path, [NullString]::Value)
    } else {
        [IO.File]::Move($whole, $options.path)
    }
}

$operations['files.move'] = {
    param($options)
    [IO.File]::Move($options.from, $options.to)
}

$operations['files.remove'] = {
    param($options)
    [IO.File]::Delete($options.path)
}

$operations['files.access'] = {
    param($options)
    if (Test-Path -LiteralPath $options.path) {
        $access = Get-Acl -LiteralPath $options.path
        [pscustomobject] @{ Sddl = $access.Sddl }
    }
}

$operations['files.grant'] = {
    param($options)
    $access = Get-Acl -LiteralPath $options.path
    $access.SetSecurityDescriptorSddlForm($options.sddl)
    Set-Acl -LiteralPath $options.path -AclObject $access
}

$operations['files.close'] = {
    param($options)
    $access = Get-Acl -LiteralPath $options.path
    $form = 'O:SYG:SYD:PAI(A;;FA;;;SY)(A;;FA;;;BA)'
    if ($access -is [System.Security.AccessControl.DirectorySecurity]) {
        $form = 'O:SYG:SYD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)'
    }
    $access.SetSecurityDescriptorSddlForm($form)
    Set-Acl -LiteralPath $options.path -AclObject $access
}

$operations['system.describe'] = {
    param($options)
    $version = Get-ItemProperty -LiteralPath $versionKey
    $running = Get-CimInstance -ClassName Win32_OperatingSystem
    $features = @(Get-WindowsFeature -Name Containers, Hyper-V | Where-Object { $_.Installed } | ForEach-Object { $_.Name })
    $machine = Get-ItemProperty -LiteralPath $machineKey
    $identity = [Security.Principal.WindowsIdentity]::GetCurrent()
    $principal = New-Object Security.Principal.WindowsPrincipal($identity)
    [pscustomobject] @{
        ComputerName = [Environment]::MachineName
        CurrentBuildNumber = [string] $version.CurrentBuildNumber
        UBR = [int] $version.UBR
        EditionID = [string] $version.EditionID
        InstallationType = [string] $version.InstallationType
        LastBootUpTime = Get-Instant $running.LastBootUpTime
        MachineGuid = [string] $machine.MachineGuid
        ContainersFeature = [bool] ($features -contains 'Containers')
        HyperVFeature = [bool] ($features -contains 'Hyper-V')
        RebootPending = [bool] (Test-Path -LiteralPath $rebootKey)
        Administrator = [bool] $principal.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)
        PSVersion = $PSVersionTable.PSVersion.ToString()
    }
}

# Writes ASCII only, because code pages change other characters.
function Write-Response($response) {
    $json = ConvertTo-Json -InputObject $response -Compress -Depth 20
    $ascii = [regex]::Replace($json, '[^\x20-\x7e]', { param($match) '\u{0:x4}' -f [int] [char] $match.Value })
    [Console]::Out.WriteLine('hyperkube ' + $ascii)
    [Console]::Out.Flush()
}

function Invoke-HyperkubeRequest([string] $line) {
    $id = 0
    try {
        $request = ConvertFrom-Json -InputObject ($utf8.GetString([Convert]::FromBase64String($line)))
        $id = $request.id
        $operation = $operations[[string] $request.operation]
        if ($null -eq $operation) { throw ('there is no operation ' + [string] $request.operation) }
        $output = @(& $operation $request.input | Where-Object { $null -ne $_ })
        Write-Response @{ id = $id; ok = $true; output = $output }
    } catch {
        $about = @{ message = [string] $_.Exception.Message; type = $_.Exception.GetType().FullName; about = [string] $_.FullyQualifiedErrorId }
        Write-Response @{ id = $id; ok = $false; error = $about }
    }
}

Write-Response @{ id = 0; ok = $true; output = @() }
