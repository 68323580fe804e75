// How fast ns-3 simulates one bulk TCP BBR flow over a dumbbell: data packets per second of real time.
//
//     sender ──access──► left router ──bottleneck──► right router ──access──► receiver
//
// Arguments: --rate=100Mbps --rtt=100ms --duration=20 --buffer=4 (multiples of rate x rtt).
// Prints one line: data packets, virtual seconds, real seconds, goodput in bit/s.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/tcp-bbr.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <cstdio>

using namespace ns3;

// Payload of a full packet; the headers beside it are IPv4's and TCP's with the timestamp option.
static const uint32_t MSS = 1448;
static const uint32_t PACKET = MSS + 20 + 20 + 12;

static uint64_t g_dataPackets = 0;

// The sender's device has put a packet on the wire. Packets of a bulk transfer are full, but for the handshake.
static void
OnDeparture(Ptr<const Packet> packet)
{
    if (packet->GetSize() >= MSS)
    {
        ++g_dataPackets;
    }
}

int
main(int argc, char* argv[])
{
    DataRate rate("100Mbps");
    Time rtt("100ms");
    double duration = 20;
    double buffer = 4;
    CommandLine command(__FILE__);
    command.AddValue("rate", "rate of the bottleneck", rate);
    command.AddValue("rtt", "two-way propagation delay", rtt);
    command.AddValue("duration", "virtual seconds", duration);
    command.AddValue("buffer", "buffer of the bottleneck in multiples of rate x rtt", buffer);
    command.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpBbr::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    // Room for several bandwidth-delay products, so that buffers of the hosts limit nothing.
    const uint32_t window = 16 << 20;
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));

    NodeContainer nodes;
    nodes.Create(4);
    const double bdp = rate.GetBitRate() / 8.0 * rtt.GetSeconds();
    const auto packets = static_cast<uint32_t>(buffer * bdp / PACKET);

    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate.GetBitRate() * 10)));
    access.SetChannelAttribute("Delay", TimeValue(rtt / 8));
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", DataRateValue(rate));
    bottleneck.SetChannelAttribute("Delay", TimeValue(rtt / 4));
    bottleneck.SetQueue("ns3::DropTailQueue<Packet>",
                        "MaxSize",
                        QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, packets)));

    InternetStackHelper internet;
    internet.Install(nodes);
    NetDeviceContainer left = access.Install(nodes.Get(0), nodes.Get(1));
    NetDeviceContainer middle = bottleneck.Install(nodes.Get(1), nodes.Get(2));
    NetDeviceContainer right = access.Install(nodes.Get(2), nodes.Get(3));

    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.255.0");
    address.Assign(left);
    address.SetBase("10.0.1.0", "255.255.255.0");
    address.Assign(middle);
    address.SetBase("10.0.2.0", "255.255.255.0");
    Ipv4InterfaceContainer ends = address.Assign(right);
    // Without the FQ-CoDel that comes with addresses: the bottleneck is one drop-tail queue, as in Fullpipe's case.
    TrafficControlHelper trafficControl;
    for (const auto& devices : {left, middle, right})
    {
        trafficControl.Uninstall(devices);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    const uint16_t port = 5001;
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(ends.GetAddress(1), port));
    bulk.SetAttribute("SendSize", UintegerValue(MSS));
    bulk.Install(nodes.Get(0)).Start(Seconds(0));
    PacketSinkHelper sinks("ns3::TcpSocketFactory",
                           InetSocketAddress(Ipv4Address::GetAny(), port));
    ApplicationContainer sink = sinks.Install(nodes.Get(3));
    sink.Start(Seconds(0));

    left.Get(0)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&OnDeparture));

    Simulator::Stop(Seconds(duration));
    const auto begin = std::chrono::steady_clock::now();
    Simulator::Run();
    const std::chrono::duration<double> real = std::chrono::steady_clock::now() - begin;
    const uint64_t received = DynamicCast<PacketSink>(sink.Get(0))->GetTotalRx();
    Simulator::Destroy();

    std::printf("%llu %.3f %.3f %.0f\n",
                static_cast<unsigned long long>(g_dataPackets),
                duration,
                real.count(),
                received * 8 / duration);
    return 0;
}
