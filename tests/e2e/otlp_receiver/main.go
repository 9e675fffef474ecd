// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// otlp_receiver [ADDRESS] prints the profiles that the receiver of OpenTelemetry's collector takes
// by HTTP, until its standard input ends.  The address is a free port of the loopback device if none
// is given.  The first line is "listening ADDRESS"; then there are for each request
//
//	request REQUEST
//	resource KEY VALUE
//	profile TYPE UNIT SAMPLES WEIGHT
//	function SELF TOTAL NAME
//	end REQUEST
//
// with the functions of a profile after it.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

type weights struct {
	self, total int64
}

// functionsOf returns the names on a stack, the leaf's first.
func functionsOf(dictionary pprofile.ProfilesDictionary, sample pprofile.Sample) []string {
	var names []string
	indices := dictionary.StackTable().At(int(sample.StackIndex())).LocationIndices()
	for _, index := range indices.All() {
		lines := dictionary.LocationTable().At(int(index)).Lines()
		for _, line := range lines.All() {
			function := dictionary.FunctionTable().At(int(line.FunctionIndex()))
			names = append(names, dictionary.StringTable().At(int(function.NameStrindex())))
		}
	}
	return names
}

func weigh(dictionary pprofile.ProfilesDictionary, profile pprofile.Profile) (map[string]*weights, int64) {
	var all int64
	functions := map[string]*weights{}
	for _, sample := range profile.Samples().All() {
		var value int64
		for _, each := range sample.Values().All() {
			value += each
		}
		all += value
		seen := map[string]bool{}
		for i, name := range functionsOf(dictionary, sample) {
			if functions[name] == nil {
				functions[name] = &weights{}
			}
			if i == 0 {
				functions[name].self += value
			}
			if !seen[name] {
				functions[name].total += value
			}
			seen[name] = true
		}
	}
	return functions, all
}

func printResource(out io.Writer, attributes pcommon.Map) {
	for key, value := range attributes.All() {
		fmt.Fprintf(out, "resource %s %s\n", key, value.AsString())
	}
}

func printProfile(out io.Writer, dictionary pprofile.ProfilesDictionary, profile pprofile.Profile) {
	functions, all := weigh(dictionary, profile)
	kind := profile.SampleType()
	fmt.Fprintf(out, "profile %s %s %d %d\n", dictionary.StringTable().At(int(kind.TypeStrindex())),
		dictionary.StringTable().At(int(kind.UnitStrindex())), profile.Samples().Len(), all)
	for name, each := range functions {
		fmt.Fprintf(out, "function %d %d %s\n", each.self, each.total, strings.ReplaceAll(name, "\n", " "))
	}
}

func printRequest(out io.Writer, profiles pprofile.Profiles) {
	dictionary := profiles.Dictionary()
	for _, resource := range profiles.ResourceProfiles().All() {
		printResource(out, resource.Resource().Attributes())
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				printProfile(out, dictionary, profile)
			}
		}
	}
}

// consumer returns what the receiver hands requests to; each is printed as a whole.
func consumer() (xconsumer.Profiles, error) {
	var lock sync.Mutex
	requests := 0
	return xconsumer.NewProfiles(func(_ context.Context, profiles pprofile.Profiles) error {
		var text strings.Builder
		lock.Lock()
		defer lock.Unlock()
		requests++
		fmt.Fprintf(&text, "request %d\n", requests)
		printRequest(&text, profiles)
		fmt.Fprintf(&text, "end %d\n", requests)
		_, err := os.Stdout.WriteString(text.String())
		return err
	})
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

func start(ctx context.Context, address string) (xreceiver.Profiles, error) {
	factory := otlpreceiver.NewFactory().(xreceiver.Factory)
	config := factory.CreateDefaultConfig()
	chosen := confmap.NewFromStringMap(map[string]any{
		"protocols": map[string]any{"http": map[string]any{"endpoint": address}}})
	if err := chosen.Unmarshal(config); err != nil {
		return nil, err
	}
	next, err := consumer()
	if err != nil {
		return nil, err
	}
	receiver, err := factory.CreateProfiles(ctx, receivertest.NewNopSettings(factory.Type()), config, next)
	if err != nil {
		return nil, err
	}
	return receiver, receiver.Start(ctx, componenttest.NewNopHost())
}

func run(arguments []string) error {
	ctx := context.Background()
	address := strings.Join(arguments, "")
	if address == "" {
		var err error
		if address, err = freeAddress(); err != nil {
			return err
		}
	}
	receiver, err := start(ctx, address)
	if err != nil {
		return err
	}
	fmt.Println("listening", address)
	io.Copy(io.Discard, os.Stdin)
	return receiver.Shutdown(ctx)
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "otlp_receiver:", err)
		os.Exit(1)
	}
}
